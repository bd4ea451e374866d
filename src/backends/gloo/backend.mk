# SPDX-License-Identifier: BSD-3-Clause
# Host memory over Gloo's TCP transport: in the build where its headers are. HAVE_GLOO=0 leaves it out; HAVE_GLOO=1
# ends the build where they are missing. GLOO_HOME=FOLDER names another place than the system's.
GLOO_HOME :=
GLOO_HEADERS := $(firstword $(patsubst %/gloo/allreduce.h,%,$(wildcard $(addsuffix /gloo/allreduce.h,$(or $(addsuffix /include,$(GLOO_HOME)),/usr/include /usr/local/include)))))
HAVE_GLOO := $(if $(GLOO_HEADERS),1,0)
ifeq ($(HAVE_GLOO),1)
  ifeq ($(GLOO_HEADERS),)
    $(error the gloo backend lacks gloo/allreduce.h; install libgloo-dev, give GLOO_HOME=FOLDER, or leave it out with HAVE_GLOO=0)
  endif
BACKENDS += gloo
GLOO_CXXFLAGS := $(if $(filter-out /usr/include,$(GLOO_HEADERS)),-isystem $(GLOO_HEADERS))
BACKEND_LDLIBS += $(if $(GLOO_HOME),-L$(GLOO_HOME)/lib -Wl$(comma)-rpath$(comma)$(GLOO_HOME)/lib) -lgloo
$(BUILD)/joined/src/backends/gloo.o $(BUILD)/src/backends/gloo/%.o: ALL_CXXFLAGS += $(GLOO_CXXFLAGS)
endif

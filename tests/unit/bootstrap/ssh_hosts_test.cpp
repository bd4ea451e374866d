// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

namespace busbar {
namespace {

LauncherChoice chosen(const std::string& wanted) {
  return choose_launcher({.wanted = wanted, .is_program = [](auto) { return true; }});
}

Words ssh(const std::string& wanted, const Words& arguments = {}, std::string_view set = "") {
  return ssh_of(chosen(wanted), arguments,
                [&](const char* name) { return name == set ? "x" : nullptr; });
}

TEST(SshHosts, AreThoseOfLaunchersThatNothingHasGivenAnotherAgent) {
  for (const char* name : {"hydra", "openmpi", "prrte"}) {
    EXPECT_THAT(ssh(name), ElementsAre("ssh")) << name;
    EXPECT_THAT(ssh(name, {"-iface", "ib0"}), ElementsAre("ssh")) << name;
    EXPECT_THAT(ssh(name, {}, "SLURM_JOB_ID"), IsEmpty()) << name;
  }
  EXPECT_THAT(ssh("hydra", {"-launcher-exec", "/opt/go"}), IsEmpty());
  EXPECT_THAT(ssh("hydra", {}, "HYDRA_BOOTSTRAP"), IsEmpty());
  EXPECT_THAT(ssh("openmpi", {"--mca", "plm_rsh_agent", "go"}), IsEmpty());
  EXPECT_THAT(ssh("srun"), IsEmpty());
  EXPECT_THAT(ssh("local"), IsEmpty());
  EXPECT_THAT(ssh("ssh -p 22 {host} {env} {program}"), ElementsAre("ssh", "-p", "22"));
  EXPECT_THAT(ssh("/usr/bin/ssh {host} {program}"), ElementsAre("/usr/bin/ssh"));
  EXPECT_THAT(ssh("ssh me@{host} {program}"), IsEmpty());
  EXPECT_THAT(ssh("kubectl exec {host} -- {env} {program}"), IsEmpty());
}

TEST(SshHosts, AreKnownByTheResolverOrByTheConfigurationOfSsh) {
  const test::TemporaryFolder folder;
  const std::string program = folder.path("ssh");
  // "ssh -F file -G HOST"
  std::ofstream(program)
      << "#!/bin/sh\ncase $4 in alias.*) echo hostname 127.0.0.1;;\n"
         "jump.*) echo proxyjump gate;; *) echo hostname $4; echo proxyjump none;; esac\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_THAT(unresolved_hosts({"localhost", "127.0.0.2", "a.invalid", "alias.invalid",
                                "jump.invalid", "b.invalid"},
                               {program, "-F", "file"}),
              ElementsAre("a.invalid", "b.invalid"));
  EXPECT_THAT(unresolved_hosts({"a.invalid"}, {"no-such-ssh"}), ElementsAre("a.invalid"));
  EXPECT_THAT(unresolved_hosts({"a.invalid"}, {}), IsEmpty());
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload_model.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_workload_models(text, "m.toml"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    return error.what();
  }
  return "nothing was refused";
}

const std::string kLeast = "[[model]]\nname = \"net\"\nsource = \"me\"\nparameters_M = 7.5\n";

TEST(WorkloadModel, OfTheLeastFileHasDefaults) {
  const auto models = parse_workload_models(kLeast, "m.toml");
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].parameters, 7.5e6);
  EXPECT_EQ(models[0].title, "net");
  EXPECT_EQ(models[0].unit, "images");
  EXPECT_TRUE(models[0].batches.empty());
  EXPECT_FALSE(models[0].throughput);
}

TEST(WorkloadModel, BuiltInOnesHaveSourcesAndBatches) {
  const auto models = built_in_workload_models();
  EXPECT_EQ(models.size(), 11U);
  for (const WorkloadModel& model : models) {
    EXPECT_FALSE(model.source.empty()) << model.name;
    // Of the newest only the size of the gradients is published with them.
    const bool newest = model.name == "bert-large" || model.name == "gpt2-xl";
    EXPECT_EQ(model.batches.size(), newest ? 0U : 2U) << model.name;
  }
  const WorkloadModel& resnet = find_workload_model(models, "--model", "ResNet-50");
  ASSERT_TRUE(resnet.throughput);
  EXPECT_EQ(resnet.throughput->per_second, 356);
  EXPECT_EQ(resnet.throughput->type, "float");
  EXPECT_EQ(find_workload_model(models, "--model", "BERT_SQuAD").batches[0].size, 32);
}

TEST(WorkloadModel, UnknownNameIsToldWhichIsNear) {
  try {
    static_cast<void>(find_workload_model(built_in_workload_models(), "--model", "resnet51"));
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--model: there is no model 'resnet51' (did you mean "));
  }
}

TEST(WorkloadModel, UnknownNameIsToldAllThatHaveItInThem) {
  const auto models = built_in_workload_models();
  try {
    static_cast<void>(find_workload_model(models, "--model", "BERT"));
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("(did you mean bert-swag, bert-squad, bert-large?)"));
  }
}

TEST(WorkloadModel, OfTheUserReplacesOneOfTheSameName) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("busbar-models-" + std::to_string(::getpid()) + ".toml");
  std::ofstream(path) << kLeast
                      << "[[model]]\nname = \"AlexNet\"\nsource = \"me\"\nparameters_M = 60\n";
  const auto models = workload_models_with(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(models.size(), 12U);
  EXPECT_EQ(find_workload_model(models, "--model", "alexnet").parameters, 60e6);
  EXPECT_EQ(find_workload_model(models, "--model", "net").parameters, 7.5e6);
  EXPECT_THROW(static_cast<void>(workload_models_with("/nowhere/models.toml")), Error);
}

TEST(WorkloadModel, FaultsAreToldWithTheirPlace) {
  EXPECT_THAT(refusal(""), HasSubstr("m.toml: no [[model]] in it"));
  EXPECT_THAT(refusal("[[model"), HasSubstr("docs/workload.md describes the format"));
  EXPECT_THAT(refusal(kLeast + "size = 3\n"),
              HasSubstr("m.toml:5:1: unknown key of [[model]] \"size\""));
  EXPECT_THAT(refusal("[[model]]\nname = \"a\"\nsource = \"b\"\n"),
              HasSubstr("needs the key \"parameters_M\""));
  EXPECT_THAT(refusal("[[model]]\nname = \"a\"\nparameters_M = 1\n"),
              HasSubstr("needs the key \"source\""));
  EXPECT_THAT(refusal("[[model]]\nname = \"a\"\nparameters_M = -1\nsource = \"b\"\n"),
              HasSubstr("above 0"));
  EXPECT_THAT(refusal(kLeast + kLeast), HasSubstr("m.toml:5:1: there are two models"));
  EXPECT_EQ(refusal(kLeast + "batches = [{ size = 1 }]\n"), "nothing was refused");
  EXPECT_THAT(refusal(kLeast + "batches = [{ size = 0 }]\n"),
              HasSubstr("size must be a whole number"));
  EXPECT_THAT(refusal(kLeast + "throughput = { per_second = 1, type = \"float\" }\n"),
              HasSubstr("\"source\""));
  EXPECT_THAT(refusal("[[model]]\nname = \"a=b\"\nsource = \"b\"\nparameters_M = 1\n"),
              HasSubstr("no '='"));
}

}  // namespace
}  // namespace busbar

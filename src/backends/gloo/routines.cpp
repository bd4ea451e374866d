// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gloo/routines.hpp"

#include <algorithm>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/scatter.h>
#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

namespace busbar {
namespace {

using Context = std::shared_ptr<gloo::Context>;

/// What is only moved are bytes to Gloo.
std::uint8_t* bytes_at(std::byte* start) { return reinterpret_cast<std::uint8_t*>(start); }

std::uint64_t bytes_of(const Call& call) { return call.count * info(call.type).size; }

std::uint64_t bytes_of_all(const GlooLinks& links, const Call& call) {
  return bytes_of(call) * static_cast<std::uint64_t>(links.context->size);
}

/// Calls `use` with a value of the type, where Gloo computes with it.
template <class Use>
void with_gloo_element(DataType type, const Use& use) {
  if (type == DataType::Half) return use(gloo::float16{});
  with_element(type, use);
}

/// Of Gloo's functions the one of an operation; null for an average, which it has not.
template <class Function>
Function of_operation(ReduceOp op, Function sum, Function product, Function max, Function min) {
  const std::array functions{sum, product, max, min};  // as ReduceOp has them
  const auto at = static_cast<std::size_t>(op);
  return at < functions.size() ? functions.at(at) : nullptr;
}

template <class Options>
Options reduction_options(const GlooLinks& links, const Call& call) {
  Options options(links.context);
  with_gloo_element(call.type, [&](auto element) {
    using Element = decltype(element);
    if (!call.in_place) options.setInput(reinterpret_cast<Element*>(call.send), call.count);
    options.setOutput(reinterpret_cast<Element*>(call.recv), call.count);
  });
  options.setReduceFunction(gloo_reduction(call.type, call.op));
  return options;
}

void all_reduce(GlooLinks& links, const Call& call) {
  auto options = reduction_options<gloo::AllreduceOptions>(links, call);
  gloo::allreduce(options);
}

void reduce(GlooLinks& links, const Call& call) {
  auto options = reduction_options<gloo::ReduceOptions>(links, call);
  options.setRoot(call.root);
  gloo::reduce(options);
}

void broadcast(GlooLinks& links, const Call& call) {
  gloo::BroadcastOptions options(links.context);
  const bool sends = links.context->rank == call.root && !call.in_place;
  if (sends) options.setInput(bytes_at(call.send), bytes_of(call));
  options.setOutput(bytes_at(call.recv), bytes_of(call));
  options.setRoot(call.root);
  gloo::broadcast(options);
}

void all_gather(GlooLinks& links, const Call& call) {
  gloo::AllgatherOptions options(links.context);
  if (!call.in_place) options.setInput(bytes_at(call.send), bytes_of(call));
  options.setOutput(bytes_at(call.recv), bytes_of_all(links, call));
  gloo::allgather(options);
}

void all_to_all(GlooLinks& links, const Call& call) {
  gloo::AlltoallOptions options(links.context);
  options.setInput(bytes_at(call.send), bytes_of_all(links, call));
  options.setOutput(bytes_at(call.recv), bytes_of_all(links, call));
  gloo::alltoall(options);
}

void all_to_all_v(GlooLinks& links, const Call& call) {
  const int rank = links.context->rank;
  const Bytes element = info(call.type).size;
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> received;
  for (int other = 0; other < links.context->size; ++other) {
    sent.push_back(static_cast<std::int64_t>(call.traffic->count(rank, other) * element));
    received.push_back(static_cast<std::int64_t>(call.traffic->count(other, rank) * element));
  }
  gloo::AlltoallvOptions options(links.context);
  options.setInput(bytes_at(call.send), sent);
  options.setOutput(bytes_at(call.recv), received);
  gloo::alltoallv(options);
}

void gather(GlooLinks& links, const Call& call) {
  gloo::GatherOptions options(links.context);
  options.setInput(bytes_at(call.send), bytes_of(call));
  if (links.context->rank == call.root) {
    options.setOutput(bytes_at(call.recv), bytes_of_all(links, call));
  }
  options.setRoot(call.root);
  gloo::gather(options);
}

void scatter(GlooLinks& links, const Call& call) {
  gloo::ScatterOptions options(links.context);
  if (links.context->rank == call.root) {
    std::vector<std::uint8_t*> parts;
    for (std::uint64_t at = 0; at < bytes_of_all(links, call); at += bytes_of(call)) {
      parts.push_back(bytes_at(call.send + at));
    }
    options.setInputs(parts, bytes_of(call));
  }
  options.setOutput(bytes_at(call.recv), bytes_of(call));
  options.setRoot(call.root);
  gloo::scatter(options);
}

template <class Element>
std::unique_ptr<gloo::Algorithm> make_reduce_scatter(const Context& context, const Call& call) {
  using Function = gloo::ReductionFunction<Element>;
  const Function* function =
      of_operation(call.op, Function::sum, Function::product, Function::max, Function::min);
  const std::vector<int> parts(static_cast<std::size_t>(context->size),
                               static_cast<int>(call.count));
  return std::make_unique<gloo::ReduceScatterHalvingDoubling<Element>>(
      context, std::vector<Element*>{reinterpret_cast<Element*>(call.send)},
      static_cast<int>(call.count) * context->size, parts, function);
}

void reduce_scatter(GlooLinks& links, const Call& call) {
  const Call& last = links.made_for;
  const bool is_same = links.algorithm && last.send == call.send && last.count == call.count &&
                       last.type == call.type && last.op == call.op;
  if (!is_same) {
    links.algorithm.reset();
    with_gloo_element(call.type, [&](auto element) {
      links.algorithm = make_reduce_scatter<decltype(element)>(links.context, call);
    });
    links.made_for = call;
  }
  links.algorithm->run();
}

void exchange(GlooLinks& links, const Call& call) {
  constexpr std::uint64_t kSlot = 0xb05ba2;
  const auto from = links.context->createUnboundBuffer(call.recv, bytes_of(call));
  const auto to = links.context->createUnboundBuffer(call.send, bytes_of(call));
  if (call.peers.from >= 0) from->recv(call.peers.from, kSlot);
  if (call.peers.to >= 0) to->send(call.peers.to, kSlot);
  if (call.peers.to >= 0) to->waitSend();
  if (call.peers.from >= 0) from->waitRecv();
}

/// Two segments of 1 MiB at most.
Bytes two_segments(Bytes size) { return std::min<Bytes>(2 * size, 2 * kMiB); }
/// One vector for what is received, one for what is put in order.
Bytes twice(Bytes size) { return 2 * size; }

constexpr std::string_view kOnlyInPlace = "Gloo's reduce-scatter works in place only";

constexpr auto kRoutines = std::to_array<GlooRoutine>({
    {.collective = "allreduce", .call = all_reduce, .temporary = two_segments},
    {.collective = "broadcast", .call = broadcast},
    {.collective = "reducescatter",
     .call = reduce_scatter,
     .temporary = twice,
     .not_out_of_place = kOnlyInPlace,
     .result_first = true},
    {.collective = "allgather", .call = all_gather},
    {.collective = "reduce", .call = reduce, .temporary = two_segments},
    {.collective = "alltoall", .call = all_to_all, .not_in_place = kOverwrites},
    {.collective = "alltoallv", .call = all_to_all_v, .not_in_place = kOverwrites},
    {.collective = "sendrecv", .call = exchange, .not_in_place = kOverwrites},
    {.collective = "gather", .call = gather},
    {.collective = "scatter", .call = scatter},
});

}  // namespace

GlooReduction gloo_reduction(DataType type, ReduceOp op) {
  GlooReduction reduction;
  with_gloo_element(type, [&](auto element) {
    using Element = decltype(element);
    using Function = void (*)(void*, const void*, const void*, std::size_t);
    reduction = of_operation<Function>(op, gloo::sum<Element>, gloo::product<Element>,
                                       gloo::max<Element>, gloo::min<Element>);
  });
  return reduction;
}

const GlooRoutine& gloo_routine(std::string_view collective) {
  return routine_of(kRoutines, collective, "Gloo");
}

}  // namespace busbar

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
using Memory = std::unique_ptr<gloo::transport::UnboundBuffer>;

template <class Element>
GlooReduction reduction_of(ReduceOp op) {
  using Function = void (*)(void*, const void*, const void*, std::size_t);
  switch (op) {
    case ReduceOp::Sum: return Function{&gloo::sum<Element>};
    case ReduceOp::Prod: return Function{&gloo::product<Element>};
    case ReduceOp::Max: return Function{&gloo::max<Element>};
    case ReduceOp::Min: return Function{&gloo::min<Element>};
    case ReduceOp::Avg:
    case ReduceOp::None: break;
  }
  return {};
}

Memory memory(const Context& context, std::byte* start, std::uint64_t count, const Call& call) {
  return context->createUnboundBuffer(start, count * info(call.type).size);
}

/// Gloo wants the size of an element as a type.
template <class Options, class... Parts>
void set_output(Options& options, Memory buffer, const Call& call, Parts... parts) {
  switch (info(call.type).size) {
    case 1: return options.template setOutput<std::uint8_t>(std::move(buffer), parts...);
    case 2: return options.template setOutput<std::uint16_t>(std::move(buffer), parts...);
    case 4: return options.template setOutput<std::uint32_t>(std::move(buffer), parts...);
    default: return options.template setOutput<std::uint64_t>(std::move(buffer), parts...);
  }
}
template <class Options, class... Parts>
void set_input(Options& options, Memory buffer, const Call& call, Parts... parts) {
  switch (info(call.type).size) {
    case 1: return options.template setInput<std::uint8_t>(std::move(buffer), parts...);
    case 2: return options.template setInput<std::uint16_t>(std::move(buffer), parts...);
    case 4: return options.template setInput<std::uint32_t>(std::move(buffer), parts...);
    default: return options.template setInput<std::uint64_t>(std::move(buffer), parts...);
  }
}

std::uint64_t of_all(const Context& context, const Call& call) {
  return call.count * static_cast<std::uint64_t>(context->size);
}

void all_reduce(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::AllreduceOptions options(context);
  if (!call.in_place) set_input(options, memory(context, call.send, call.count, call), call);
  set_output(options, memory(context, call.recv, call.count, call), call);
  options.setReduceFunction(gloo_reduction(call.type, call.op));
  gloo::allreduce(options);
}

void reduce(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::ReduceOptions options(context);
  if (!call.in_place) set_input(options, memory(context, call.send, call.count, call), call);
  set_output(options, memory(context, call.recv, call.count, call), call);
  options.setReduceFunction(gloo_reduction(call.type, call.op));
  options.setRoot(call.root);
  gloo::reduce(options);
}

void broadcast(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::BroadcastOptions options(context);
  const bool sends = context->rank == call.root && !call.in_place;
  if (sends) set_input(options, memory(context, call.send, call.count, call), call);
  set_output(options, memory(context, call.recv, call.count, call), call);
  options.setRoot(call.root);
  gloo::broadcast(options);
}

void all_gather(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::AllgatherOptions options(context);
  if (!call.in_place) set_input(options, memory(context, call.send, call.count, call), call);
  set_output(options, memory(context, call.recv, of_all(context, call), call), call);
  gloo::allgather(options);
}

void all_to_all(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::AlltoallOptions options(context);
  set_input(options, memory(context, call.send, of_all(context, call), call), call);
  set_output(options, memory(context, call.recv, of_all(context, call), call), call);
  gloo::alltoall(options);
}

void all_to_all_v(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  const Traffic& traffic = *call.traffic;
  const int rank = context->rank;
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> received;
  for (int other = 0; other < context->size; ++other) {
    sent.push_back(static_cast<std::int64_t>(traffic.count(rank, other)));
    received.push_back(static_cast<std::int64_t>(traffic.count(other, rank)));
  }
  gloo::AlltoallvOptions options(context);
  set_input(options, memory(context, call.send, traffic.send_offset(rank, context->size), call),
            call, sent);
  set_output(options, memory(context, call.recv, traffic.recv_offset(context->size, rank), call),
             call, received);
  gloo::alltoallv(options);
}

void gather(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::GatherOptions options(context);
  set_input(options, memory(context, call.send, call.count, call), call);
  if (context->rank == call.root) {
    set_output(options, memory(context, call.recv, of_all(context, call), call), call);
  }
  options.setRoot(call.root);
  gloo::gather(options);
}

void scatter(GlooLinks& links, const Call& call) {
  const Context& context = links.context;
  gloo::ScatterOptions options(context);
  if (context->rank == call.root) {
    std::vector<Memory> parts;
    const std::uint64_t bytes = call.count * info(call.type).size;
    for (int rank = 0; rank < context->size; ++rank) {
      parts.push_back(
          memory(context, call.send + bytes * static_cast<std::uint64_t>(rank), call.count, call));
    }
    // What is sent has no type of its own: set_output has it.
    options.setInputs<std::uint8_t>(std::move(parts));
  }
  set_output(options, memory(context, call.recv, call.count, call), call);
  options.setRoot(call.root);
  gloo::scatter(options);
}

/// Calls `use` with a value of the type, where Gloo computes with it.
template <class Use>
void with_gloo_element(DataType type, const Use& use) {
  if (type == DataType::Half) return use(gloo::float16{});
  with_element(type, use);
}

template <class Element>
std::unique_ptr<gloo::Algorithm> make_reduce_scatter(const Context& context, const Call& call) {
  using Function = gloo::ReductionFunction<Element>;
  const Function* function = call.op == ReduceOp::Sum    ? Function::sum
                             : call.op == ReduceOp::Prod ? Function::product
                             : call.op == ReduceOp::Max  ? Function::max
                                                         : Function::min;
  const std::vector<int> parts(static_cast<std::size_t>(context->size),
                               static_cast<int>(call.count));
  return std::make_unique<gloo::ReduceScatterHalvingDoubling<Element>>(
      context, std::vector<Element*>{reinterpret_cast<Element*>(call.send)},
      static_cast<int>(of_all(context, call)), parts, function);
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
  const Context& context = links.context;
  constexpr std::uint64_t kSlot = 0xb05ba2;
  const Memory from = memory(context, call.recv, call.count, call);
  const Memory to = memory(context, call.send, call.count, call);
  if (call.peers.from >= 0) from->recv(call.peers.from, kSlot);
  if (call.peers.to >= 0) to->send(call.peers.to, kSlot);
  if (call.peers.to >= 0) to->waitSend();
  if (call.peers.from >= 0) from->waitRecv();
}

Bytes nothing(Bytes /*size*/) { return 0; }
/// Two segments of 1 MiB at most.
Bytes two_segments(Bytes size) { return std::min<Bytes>(2 * size, 2 * kMiB); }
/// One vector for what is received, one for what is put in order.
Bytes twice(Bytes size) { return 2 * size; }

constexpr std::string_view kOnlyInPlace = "Gloo's reduce-scatter works in place only";

constexpr auto kRoutines = std::to_array<GlooRoutine>({
    {.collective = "allreduce", .call = all_reduce, .temporary = two_segments},
    {.collective = "broadcast", .call = broadcast, .temporary = nothing},
    {.collective = "reducescatter",
     .call = reduce_scatter,
     .temporary = twice,
     .not_out_of_place = kOnlyInPlace,
     .result_first = true},
    {.collective = "allgather", .call = all_gather, .temporary = nothing},
    {.collective = "reduce", .call = reduce, .temporary = two_segments},
    {.collective = "alltoall",
     .call = all_to_all,
     .temporary = nothing,
     .not_in_place = kOverwrites},
    {.collective = "alltoallv",
     .call = all_to_all_v,
     .temporary = nothing,
     .not_in_place = kOverwrites},
    {.collective = "sendrecv", .call = exchange, .temporary = nothing, .not_in_place = kOverwrites},
    {.collective = "gather", .call = gather, .temporary = nothing},
    {.collective = "scatter", .call = scatter, .temporary = nothing},
});

}  // namespace

GlooReduction gloo_reduction(DataType type, ReduceOp op) {
  GlooReduction reduction;
  with_gloo_element(type, [&](auto element) { reduction = reduction_of<decltype(element)>(op); });
  return reduction;
}

const GlooRoutine* find_gloo_routine(std::string_view collective) {
  const auto* const found = std::ranges::find(kRoutines, collective, &GlooRoutine::collective);
  return found == kRoutines.end() ? nullptr : found;
}

}  // namespace busbar

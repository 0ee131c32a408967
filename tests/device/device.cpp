// A device for tests, called sim: its memory can be read by nobody but its own kernels, which torch's kernels for the
// host stand in for. It counts kernels and transfers, and has a stream of random numbers of its own.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

constexpr auto SIM = c10::DeviceType::PrivateUse1;
constexpr size_t PAGE = 4096, SPACE = size_t(1) << 34;

std::recursive_mutex lock;
char* const begin = static_cast<char*>(
    mmap(nullptr, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
size_t used = 0;
std::map<void*, size_t> pieces;
std::multimap<size_t, void*> released;
std::map<std::string, int64_t> counts;
int64_t held = 0;
thread_local int depth = 0;

// While one lives, the device's memory is open; at other times a read or write from the host ends the process.
struct Kernel {
  std::unique_lock<std::recursive_mutex> mine{lock};
  Kernel() { if (depth++ == 0) protect(PROT_READ | PROT_WRITE); }
  ~Kernel() { if (--depth == 0) protect(PROT_NONE); }
  static void protect(int how) { mprotect(begin, used, how); }
};

void count(const std::string& what) {
  std::lock_guard<std::recursive_mutex> mine(lock);
  if (!depth) counts[what]++;
}

struct Memory final : at::Allocator {
  at::DataPtr allocate(size_t wanted) override {
    std::lock_guard<std::recursive_mutex> mine(lock);
    c10::Device device(SIM, 0);
    if (!wanted) return {nullptr, nullptr, &release, device};
    size_t size = (wanted + PAGE - 1) / PAGE * PAGE;
    void* at = begin + used;
    if (auto again = released.find(size); again != released.end()) {
      at = again->second;
      released.erase(again);
    } else {
      TORCH_CHECK(used + size <= SPACE, "sim out of memory");
      used += size;
      if (depth) mprotect(at, size, PROT_READ | PROT_WRITE);
    }
    pieces[at] = size;
    held += size;
    return {at, at, &release, device};
  }
  static void release(void* at) {
    std::lock_guard<std::recursive_mutex> mine(lock);
    auto found = pieces.find(at);
    if (found == pieces.end()) return;
    released.emplace(found->second, at);
    held -= found->second;
    pieces.erase(found);
  }
  at::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t size) const override {
    Kernel open;
    std::memcpy(to, from, size);
  }
};
Memory memory;
REGISTER_ALLOCATOR(SIM, &memory);

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = SIM;
  Guard() = default;
  explicit Guard(c10::DeviceType) {}
  c10::DeviceType type() const override { return SIM; }
  c10::Device exchangeDevice(c10::Device) const override { return {SIM, 0}; }
  c10::Device getDevice() const override { return {SIM, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Numbers final : at::CPUGeneratorImpl {
  Numbers() {
    device_ = c10::Device(SIM, 0);
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }
};
const at::Generator& stream() {
  static const at::Generator own = at::make_generator<Numbers>();
  return own;
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return stream(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::make_generator<Numbers>(); }
  bool isPinnedPtr(const void*) const override { return false; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t wanted) const override {
    Kernel open;
    auto* stored = storage.unsafeGetStorageImpl();
    auto fresh = memory.allocate(wanted);
    if (stored->data()) std::memcpy(fresh.get(), stored->data(), std::min(wanted, stored->nbytes()));
    stored->set_data_ptr_noswap(std::move(fresh));
    stored->set_nbytes(wanted);
  }
};

using Sizes = c10::SymIntArrayRef;
constexpr auto KEYS = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);

at::Tensor empty(Sizes size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device>,
                 std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &memory, KEYS, c10::dtype_or_default(dtype), format);
}
at::Tensor empty_strided(Sizes size, Sizes stride, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), &memory,
                                           KEYS, c10::dtype_or_default(dtype));
}

// The same memory as a tensor of the host, for as long as it is open.
at::Tensor opened(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  auto options = tensor.options().device(at::kCPU);
  auto* base = static_cast<char*>(tensor.storage().mutable_data());
  if (!base) return at::empty_strided(tensor.sizes(), tensor.strides(), options);
  return at::from_blob(base + tensor.storage_offset() * tensor.element_size(), tensor.sizes(), tensor.strides(), options);
}
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  if (from.is_cpu() != to.is_cpu()) count(from.is_cpu() ? "to device" : "to host");
  Kernel open;
  at::NoGradGuard no_gradient;
  opened(to).copy_(opened(from));
  return to;
}
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  Kernel open;
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}
at::Scalar one_value(const at::Tensor& tensor) {
  count("to host");
  Kernel open;
  return opened(tensor).item();
}
at::Tensor as_strided(const at::Tensor& tensor, Sizes size, Sizes stride, std::optional<c10::SymInt> offset) {
  std::optional<int64_t> begin;
  if (offset) begin = offset->guard_int(__FILE__, __LINE__);
  return at::native::as_strided_tensorimpl(tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), begin);
}
at::Tensor view(const at::Tensor& tensor, Sizes size) { return at::native::view(tensor, C10_AS_INTARRAYREF_SLOW(size)); }
at::Tensor reshape_alias(const at::Tensor& tensor, Sizes size, Sizes stride) {
  return at::native::_reshape_alias(tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}
const at::Tensor& resize(const at::Tensor& tensor, Sizes size, std::optional<at::MemoryFormat> format) {
  Kernel open;
  return at::native::resize_(tensor, C10_AS_INTARRAYREF_SLOW(size), format);
}
at::Tensor& set_storage(at::Tensor& tensor, at::Storage storage, c10::SymInt offset, Sizes size, Sizes stride) {
  auto* own = tensor.unsafeGetTensorImpl();
  own->set_storage_keep_dtype(std::move(storage));
  own->set_storage_offset(offset.guard_int(__FILE__, __LINE__));
  own->set_sizes_and_strides(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
  return tensor;
}
at::Tensor& set_tensor(at::Tensor& tensor, const at::Tensor& other) {
  return set_storage(tensor, other.storage(), other.sym_storage_offset(), other.sym_sizes(), other.sym_strides());
}

// As devices do, it takes no tensor of the host but a single number, or indices.
void refuse_the_hosts(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& name = op.schema().name();
  bool host = false, own = false;
  auto look = [&](const at::Tensor& tensor) {
    if (tensor.defined()) (tensor.is_cpu() ? host : own) |= !tensor.is_cpu() || tensor.dim() > 0;
  };
  for (const auto& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isTensor()) look(value.toTensor());
    if (value.isTensorList()) for (const at::Tensor& tensor : value.toTensorVector()) look(tensor);
  }
  TORCH_CHECK(!(host && own) || name.find("index") != std::string::npos,
              "Expected all tensors to be on the same device, but found at least two devices, cpu and sim:0!");
}

// Operators of which the host has to know a value, or the size of a result.
const std::set<std::string> AWAITED = {"aten::nonzero", "aten::masked_select", "aten::equal", "aten::_unique2", "aten::bincount"};

void kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  count("kernels");
  if (AWAITED.count(op.schema().name())) count("to host");
  refuse_the_hosts(op, *stack);
  Kernel open;
  if (!op.hasTag(at::Tag::nondeterministic_seeded)) return at::native::cpu_fallback(op, stack);
  at::Generator used = stream(), host = at::detail::getDefaultCPUGenerator();
  for (auto& value : *stack) {
    if (!value.isGenerator()) continue;
    if (value.toGenerator().device().type() == SIM) used = value.toGenerator();
    value = c10::IValue(host);
  }
  auto before = host.get_state();
  host.set_state(used.get_state());
  at::native::cpu_fallback(op, stack);
  used.set_state(host.get_state());
  host.set_state(before);
}

const bool hooked = [] {
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", one_value);
  m.impl("as_strided", as_strided);
  m.impl("view", view);
  m.impl("_reshape_alias", reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("resize_", resize);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&kernel>()); }

namespace at::autocast {
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  KERNEL_PRIVATEUSEONE(linear, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(cross_entropy_loss, fp32)
  KERNEL_PRIVATEUSEONE(mse_loss, fp32)
}
}  // namespace at::autocast

TORCH_LIBRARY(sim, m) {
  m.def("count(str what) -> int", [](std::string what) { return counts[what]; });
  m.def("forget_counts() -> ()", [] { counts.clear(); });
  m.def("allocated() -> int", [] { return held; });
  m.def("random_state() -> Tensor", [] { return stream().get_state(); });
  m.def("set_random_state(Tensor state) -> ()", [](at::Tensor state) { auto own = stream(); own.set_state(state); });
}

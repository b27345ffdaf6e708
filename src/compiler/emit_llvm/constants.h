// Numbers, structures and arrays as constants of one LLVM module.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <vector>

namespace emit_llvm {

class Constants {
 public:
  explicit Constants(llvm::Module& module)
      : module_(module), context_(module.getContext()), pointer_(llvm::PointerType::getUnqual(context_)) {}

  llvm::Constant* number(std::uint32_t value) const {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value);
  }
  llvm::Constant* number(std::int32_t value) const { return number(static_cast<std::uint32_t>(value)); }
  llvm::Constant* number(std::size_t value) const { return number(static_cast<std::uint32_t>(value)); }
  llvm::Constant* number(double value) const { return llvm::ConstantFP::get(llvm::Type::getDoubleTy(context_), value); }
  llvm::Constant* byte(std::uint8_t value) const {
    return llvm::ConstantInt::get(llvm::Type::getInt8Ty(context_), value);
  }
  llvm::Constant* null() const { return llvm::ConstantPointerNull::get(pointer_); }
  // Of this process.
  llvm::Constant* address(const void* pointer) const {
    if (pointer == nullptr) return null();
    llvm::Type* word = llvm::Type::getInt64Ty(context_);
    return llvm::ConstantExpr::getIntToPtr(llvm::ConstantInt::get(word, reinterpret_cast<std::uintptr_t>(pointer)),
                                           pointer_);
  }

  llvm::Constant* structure(const std::vector<llvm::Constant*>& fields) const {
    std::vector<llvm::Type*> types;
    for (llvm::Constant* field : fields) types.push_back(field->getType());
    return llvm::ConstantStruct::get(llvm::StructType::get(context_, types), fields);
  }

  // Of arrays: their address; null when they are empty.
  template <class Item, class Print>
  llvm::Constant* array(const std::vector<Item>& items, Print print) const {
    if (items.empty()) return null();
    std::vector<llvm::Constant*> elements;
    for (const Item& item : items) elements.push_back(print(item));
    return data(llvm::ConstantArray::get(llvm::ArrayType::get(elements[0]->getType(), elements.size()), elements));
  }
  template <class Number>  // uint32_t or double
  llvm::Constant* numbers(const std::vector<Number>& values) const {
    return values.empty() ? null() : data(llvm::ConstantDataArray::get(context_, llvm::ArrayRef<Number>(values)));
  }

  llvm::GlobalVariable* data(llvm::Constant* value) const {
    return new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
  }

 private:
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::PointerType* pointer_;
};

}  // namespace emit_llvm

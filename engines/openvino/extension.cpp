// IsFinite, IsInf and IsNaN for OpenVINO in the opset "nonfinite", with the names, shapes and
// attributes of IsFinite-10, IsInf-10 and IsNaN-10 of opset10. libnonfinite answers.
// `Core::add_extension` loads the library that `engines/openvino/test` builds from this file.
// Models then say `version="nonfinite"` instead of `version="opset10"`.
#include <memory>
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/op/op.hpp>
#include <vector>

#include <nonfinite.h>

namespace {

// 0, which is no format, for what has no exponent, or more elements than bytes.
nf_format format_of(const ov::element::Type &type) {
  switch (type) {
  case ov::element::Type_t::f16:
    return NF_FORMAT_F16;
  case ov::element::Type_t::bf16:
    return NF_FORMAT_BF16;
  case ov::element::Type_t::f32:
    return NF_FORMAT_F32;
  case ov::element::Type_t::f64:
    return NF_FORMAT_F64;
  case ov::element::Type_t::f8e4m3:
    return NF_FORMAT_F8E4M3FN;
  case ov::element::Type_t::f8e5m2:
    return NF_FORMAT_F8E5M2;
  case ov::element::Type_t::f8e8m0:
    return NF_FORMAT_F8E8M0FNU;
  default:
    return 0;
  }
}

// What the three have in common: one input of any shape, one boolean output of that shape.
class Classification : public ov::op::Op {
public:
  OPENVINO_OP("Classification", "nonfinite");

  void validate_and_infer_types() override {
    const auto &type = get_input_element_type(0);
    NODE_VALIDATION_CHECK(this, type.is_dynamic() || format_of(type) != 0,
                          "The element type of the input tensor must be a floating point number or "
                          "dynamic (got ",
                          type, ").");
    set_output_type(0, ov::element::boolean, get_input_partial_shape(0));
  }

  bool has_evaluate() const override {
    const auto &type = get_input_element_type(0);
    return type.is_dynamic() || format_of(type) != 0;
  }

  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override {
    const ov::Tensor &x = inputs.at(0);
    ov::Tensor &out = outputs.at(0);
    if (out.get_shape() != x.get_shape()) {
      out.set_shape(x.get_shape());
    }
    const nf_status status =
        x.is_continuous() && out.is_continuous()
            ? nf_mask(x.data(), format_of(x.get_element_type()), x.get_size(), predicate(),
                      static_cast<uint8_t *>(out.data()))
            : strided(x, out);
    OPENVINO_ASSERT(status == NF_OK, get_type_name(), ": ", nf_status_message(status));
    return true;
  }

protected:
  using ov::op::Op::Op;
  virtual nf_predicate predicate() const = 0;

private:
  // Parts of a larger tensor.
  nf_status strided(const ov::Tensor &x, ov::Tensor &out) const {
    const ov::Shape sizes = x.get_shape();
    const auto steps = [](const ov::Tensor &tensor) {
      std::vector<ptrdiff_t> strides;
      for (const size_t bytes : tensor.get_strides()) {
        strides.push_back(static_cast<ptrdiff_t>(bytes / tensor.get_element_type().size()));
      }
      return strides;
    };
    const auto from = steps(x), to = steps(out);
    const nf_view view = {x.data(),     format_of(x.get_element_type()), sizes.size(),
                          sizes.data(), from.data(),                     0};
    return nf_view_mask(&view, predicate(), static_cast<uint8_t *>(out.data()), 0, to.data());
  }
};

class IsFinite : public Classification {
public:
  OPENVINO_OP("IsFinite", "nonfinite", Classification);

  IsFinite() = default;
  explicit IsFinite(const ov::Output<ov::Node> &x) : Classification({x}) {
    constructor_validate_and_infer_types();
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    check_new_args_count(this, inputs);
    return std::make_shared<IsFinite>(inputs.at(0));
  }
  bool visit_attributes(ov::AttributeVisitor &) override { return true; }

protected:
  nf_predicate predicate() const override { return NF_IS_FINITE; }
};

class IsNaN : public Classification {
public:
  OPENVINO_OP("IsNaN", "nonfinite", Classification);

  IsNaN() = default;
  explicit IsNaN(const ov::Output<ov::Node> &x) : Classification({x}) {
    constructor_validate_and_infer_types();
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    check_new_args_count(this, inputs);
    return std::make_shared<IsNaN>(inputs.at(0));
  }
  bool visit_attributes(ov::AttributeVisitor &) override { return true; }

protected:
  nf_predicate predicate() const override { return NF_IS_NAN; }
};

class IsInf : public Classification {
public:
  OPENVINO_OP("IsInf", "nonfinite", Classification);

  IsInf() = default;
  IsInf(const ov::Output<ov::Node> &x, bool detect_negative, bool detect_positive)
      : Classification({x}), detect_negative_(detect_negative), detect_positive_(detect_positive) {
    constructor_validate_and_infer_types();
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    check_new_args_count(this, inputs);
    return std::make_shared<IsInf>(inputs.at(0), detect_negative_, detect_positive_);
  }
  bool visit_attributes(ov::AttributeVisitor &visitor) override {
    visitor.on_attribute("detect_negative", detect_negative_);
    visitor.on_attribute("detect_positive", detect_positive_);
    return true;
  }

protected:
  nf_predicate predicate() const override { return nf_is_inf(detect_negative_, detect_positive_); }

private:
  bool detect_negative_ = true, detect_positive_ = true;
};

} // namespace

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<IsFinite>>(),
    std::make_shared<ov::OpExtension<IsNaN>>(),
    std::make_shared<ov::OpExtension<IsInf>>(),
}));

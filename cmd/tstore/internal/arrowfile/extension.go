package arrowfile

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tstore/tstore/layout"
)

// The names of the extension types.
const (
	fixedShapeTensor    = "arrow.fixed_shape_tensor"
	variableShapeTensor = "arrow.variable_shape_tensor"
)

// The fields of the structure that a variable_shape_tensor is stored as.
const (
	dataField  = "data"
	shapeField = "shape"
)

// parameters are the parameters of both extension types, as JSON has them. They are about the axes as they
// lie in memory; axis k of the tensor is axis Permutation[k] of those.
type parameters struct {
	Shape       []int64  `json:"shape,omitzero"` // of a fixed_shape_tensor
	DimNames    []string `json:"dim_names,omitempty"`
	Permutation []int    `json:"permutation,omitempty"`
}

// extensionField returns a field of an extension type.
func extensionField(name, extension string, storage arrow.DataType, p parameters) (arrow.Field, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return arrow.Field{}, err
	}
	return arrow.Field{Name: name, Type: storage, Nullable: true, Metadata: arrow.NewMetadata(
		[]string{ipc.ExtensionTypeKeyName, ipc.ExtensionMetadataKeyName}, []string{extension, string(text)})}, nil
}

// extensionOf returns the name of the extension type of a field, or "", and its parameters.
func extensionOf(f arrow.Field) (string, parameters, error) {
	name, _ := f.Metadata.GetValue(ipc.ExtensionTypeKeyName)
	if name != fixedShapeTensor && name != variableShapeTensor {
		return "", parameters{}, nil
	}
	var p parameters
	text, _ := f.Metadata.GetValue(ipc.ExtensionMetadataKeyName)
	if text == "" && name == variableShapeTensor {
		return name, p, nil
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return "", p, fmt.Errorf("%w: the parameters of %s: %w", ErrInvalid, name, err)
	}
	return name, p, nil
}

// check checks that the parameters are those of tensors with n axes.
func (p *parameters) check(n int) error {
	if n > layout.MaxDims {
		return fmt.Errorf("%w: tensors of %d dimensions; at most %d are possible", ErrUnsupported, n, layout.MaxDims)
	}
	if p.DimNames != nil && len(p.DimNames) != n {
		return fmt.Errorf("%w: %d names of dimensions for tensors of %d", ErrInvalid, len(p.DimNames), n)
	}
	if p.Permutation == nil {
		return nil
	}
	seen := make([]bool, n)
	for _, k := range p.Permutation {
		if k < 0 || k >= n || seen[k] {
			return fmt.Errorf("%w: %v is no permutation of %d axes", ErrInvalid, p.Permutation, n)
		}
		seen[k] = true
	}
	if len(p.Permutation) != n {
		return fmt.Errorf("%w: %v is no permutation of %d axes", ErrInvalid, p.Permutation, n)
	}
	return nil
}

// elements returns the number of elements of a shape, which an Arrow list can hold.
func elements(shape []int64) (int64, error) {
	n, ok := layout.CheckedProduct(shape, 1)
	if !ok || n > math.MaxInt32 {
		return 0, fmt.Errorf("%w: shape %v has more than 2^31-1 elements, which an Arrow list can't hold", ErrUnsupported, shape)
	}
	return n, nil
}

// tensor returns a tensor over elements in the order of the axes in memory.
func (p *parameters) tensor(dt layout.DType, shape []int64, data []byte) (*layout.Dense, error) {
	d, err := layout.NewDense(dt, shape, data)
	if err == nil && p.DimNames != nil {
		d, err = d.WithDimNames(p.DimNames...)
	}
	if err == nil && p.Permutation != nil {
		d, err = d.Transpose(p.Permutation...)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return d, nil
}

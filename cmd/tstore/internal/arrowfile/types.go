package arrowfile

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tstore/tstore/layout"
)

// plainTypes are the types without parameters.
var plainTypes = []struct {
	dtype layout.DType
	arrow arrow.DataType
}{
	{layout.Int8, arrow.PrimitiveTypes.Int8}, {layout.Int16, arrow.PrimitiveTypes.Int16},
	{layout.Int32, arrow.PrimitiveTypes.Int32}, {layout.Int64, arrow.PrimitiveTypes.Int64},
	{layout.Uint8, arrow.PrimitiveTypes.Uint8}, {layout.Uint16, arrow.PrimitiveTypes.Uint16},
	{layout.Uint32, arrow.PrimitiveTypes.Uint32}, {layout.Uint64, arrow.PrimitiveTypes.Uint64},
	{layout.Float16, arrow.FixedWidthTypes.Float16}, {layout.Float32, arrow.PrimitiveTypes.Float32},
	{layout.Float64, arrow.PrimitiveTypes.Float64}, {layout.Bool, arrow.FixedWidthTypes.Boolean},
	{must(layout.Date(layout.UnitDay)), arrow.PrimitiveTypes.Date32},
	{must(layout.Date(layout.UnitMillisecond)), arrow.PrimitiveTypes.Date64},
	{must(layout.Interval(layout.UnitYearMonth)), arrow.FixedWidthTypes.MonthInterval},
	{must(layout.Interval(layout.UnitDayTime)), arrow.FixedWidthTypes.DayTimeInterval},
	{must(layout.Interval(layout.UnitMonthDayNano)), arrow.FixedWidthTypes.MonthDayNanoInterval},
}

// must is for types that are valid by their making.
func must(dt layout.DType, err error) layout.DType {
	if err != nil {
		panic(err)
	}
	return dt
}

// units are the units of times, timestamps and durations.
var units = []struct {
	unit  layout.Unit
	arrow arrow.TimeUnit
}{
	{layout.UnitSecond, arrow.Second}, {layout.UnitMillisecond, arrow.Millisecond},
	{layout.UnitMicrosecond, arrow.Microsecond}, {layout.UnitNanosecond, arrow.Nanosecond},
}

// arrowType returns the Arrow type of elements, or nil if there is none.
func arrowType(dt layout.DType) arrow.DataType {
	for _, p := range plainTypes {
		if p.dtype == dt {
			return p.arrow
		}
	}
	unit := arrow.Second
	for _, u := range units {
		if u.unit == dt.Unit() {
			unit = u.arrow
		}
	}
	switch dt.Kind() {
	case layout.KindTime:
		if dt.Size() == 4 {
			return &arrow.Time32Type{Unit: unit}
		}
		return &arrow.Time64Type{Unit: unit}
	case layout.KindTimestamp:
		return &arrow.TimestampType{Unit: unit, TimeZone: dt.Zone()}
	case layout.KindDuration:
		return &arrow.DurationType{Unit: unit}
	case layout.KindDecimal:
		precision, scale := int32(dt.Precision()), int32(dt.Scale())
		switch dt.Size() {
		case 4:
			return &arrow.Decimal32Type{Precision: precision, Scale: scale}
		case 8:
			return &arrow.Decimal64Type{Precision: precision, Scale: scale}
		case 16:
			return &arrow.Decimal128Type{Precision: precision, Scale: scale}
		}
		return &arrow.Decimal256Type{Precision: precision, Scale: scale}
	case layout.KindFixedSizeBinary:
		return &arrow.FixedSizeBinaryType{ByteWidth: dt.Size()}
	}
	return nil
}

// dtypeOf returns the type of the elements of an array. It reports false if tensors have none like it.
func dtypeOf(t arrow.DataType) (layout.DType, bool) {
	for _, p := range plainTypes {
		if p.arrow.ID() == t.ID() {
			return p.dtype, true
		}
	}
	unit := func(a arrow.TimeUnit) layout.Unit {
		for _, u := range units {
			if u.arrow == a {
				return u.unit
			}
		}
		return layout.UnitNone
	}
	var dt layout.DType
	var err error
	switch t := t.(type) {
	case *arrow.Time32Type:
		dt, err = layout.Time(unit(t.Unit), 32)
	case *arrow.Time64Type:
		dt, err = layout.Time(unit(t.Unit), 64)
	case *arrow.TimestampType:
		dt, err = layout.Timestamp(unit(t.Unit), t.TimeZone)
	case *arrow.DurationType:
		dt, err = layout.Duration(unit(t.Unit))
	case arrow.DecimalType:
		dt, err = layout.Decimal(int(t.GetPrecision()), int(t.GetScale()), t.BitWidth())
	case *arrow.FixedSizeBinaryType:
		dt, err = layout.FixedSizeBinary(t.ByteWidth)
	}
	return dt, err == nil && dt.Valid()
}

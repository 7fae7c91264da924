package codec

import (
	"unique"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// naturalAlignment returns what the address of an element of type dt should be
// a multiple of, so that a slice of the Go type of the same size can be laid
// over it.
func naturalAlignment(dt layout.DType) int {
	switch dt.Kind() {
	case layout.KindFixedSizeBinary:
		return 1
	case layout.KindComplex64:
		return 4
	}
	return min(dt.Size(), 8)
}

// arrowUnits maps the numbers of Arrow's TimeUnit.
var arrowUnits = [...]layout.Unit{
	fb.TimeUnitSECOND:      layout.UnitSecond,
	fb.TimeUnitMILLISECOND: layout.UnitMillisecond,
	fb.TimeUnitMICROSECOND: layout.UnitMicrosecond,
	fb.TimeUnitNANOSECOND:  layout.UnitNanosecond,
}

// unitNumber is the inverse of arrowUnits.
func unitNumber(u layout.Unit) fb.TimeUnit {
	for n, unit := range arrowUnits {
		if unit == u {
			return fb.TimeUnit(n)
		}
	}
	return -1
}

// storageType returns the type that a message says its elements have, before
// keyDType is taken into account.
func (h *Head) storageType(kind fb.Type, t flatbuffers.Table) (layout.DType, error) {
	switch kind {
	case fb.TypeInt:
		return h.intType(t)
	case fb.TypeFloatingPoint:
		return h.floatType(t)
	case fb.TypeDecimal:
		var x fb.Decimal
		x.Init(t.Bytes, t.Pos)
		dt, err := layout.Decimal(int(x.Precision()), int(x.Scale()), int(x.BitWidth()))
		if err != nil {
			return dt, h.broken(RuleDecimal, "a decimal of %d bits with precision %d", x.BitWidth(), x.Precision())
		}
		return dt, nil
	case fb.TypeDate:
		var x fb.Date
		x.Init(t.Bytes, t.Pos)
		switch x.Unit() {
		case fb.DateUnitDAY:
			return layout.Date(layout.UnitDay)
		case fb.DateUnitMILLISECOND:
			return layout.Date(layout.UnitMillisecond)
		}
		return layout.DType{}, h.broken(RuleTimeUnit, "a date with unit %d", x.Unit())
	case fb.TypeTime:
		var x fb.Time
		x.Init(t.Bytes, t.Pos)
		unit, err := h.unit(x.Unit())
		if err != nil {
			return layout.DType{}, err
		}
		dt, err := layout.Time(unit, int(x.BitWidth()))
		if err != nil {
			return dt, h.broken(RuleTimeWidth, "a time in %v of %d bits", unit, x.BitWidth())
		}
		return dt, nil
	case fb.TypeTimestamp:
		var x fb.Timestamp
		x.Init(t.Bytes, t.Pos)
		unit, err := h.unit(x.Unit())
		if err != nil {
			return layout.DType{}, err
		}
		// A DType outlives the message. The zones of the world are few, so
		// one copy of each is shared.
		zone := ""
		if z := x.Timezone(); len(z) > 0 {
			zone = unique.Make(borrow(z)).Value()
		}
		return layout.Timestamp(unit, zone)
	case fb.TypeInterval:
		var x fb.Interval
		x.Init(t.Bytes, t.Pos)
		switch x.Unit() {
		case fb.IntervalUnitYEAR_MONTH:
			return layout.Interval(layout.UnitYearMonth)
		case fb.IntervalUnitDAY_TIME:
			return layout.Interval(layout.UnitDayTime)
		case fb.IntervalUnitMONTH_DAY_NANO:
			return layout.Interval(layout.UnitMonthDayNano)
		}
		return layout.DType{}, h.broken(RuleTimeUnit, "an interval with unit %d", x.Unit())
	case fb.TypeFixedSizeBinary:
		var x fb.FixedSizeBinary
		x.Init(t.Bytes, t.Pos)
		dt, err := layout.FixedSizeBinary(int(x.ByteWidth()))
		if err != nil {
			return dt, h.broken(RuleByteWidth, "elements of %d bytes", x.ByteWidth())
		}
		return dt, nil
	case fb.TypeDuration:
		var x fb.Duration
		x.Init(t.Bytes, t.Pos)
		unit, err := h.unit(x.Unit())
		if err != nil {
			return layout.DType{}, err
		}
		return layout.Duration(unit)
	case fb.TypeBool:
		return layout.DType{}, h.broken(RuleTypeBool, "elements of one bit (tstore keeps bool as a byte, with %s)", keyDType)
	}
	if kind > fb.TypeDuration {
		return layout.DType{}, h.broken(RuleTypeUnknown, "an element type of unknown kind %d", kind)
	}
	return layout.DType{}, h.broken(RuleTypeNotFixed, "elements of type %v, which has no fixed width", kind)
}

func (h *Head) intType(t flatbuffers.Table) (layout.DType, error) {
	var x fb.Int
	x.Init(t.Bytes, t.Pos)
	signed, unsigned := layout.DType{}, layout.DType{}
	switch x.BitWidth() {
	case 8:
		signed, unsigned = layout.Int8, layout.Uint8
	case 16:
		signed, unsigned = layout.Int16, layout.Uint16
	case 32:
		signed, unsigned = layout.Int32, layout.Uint32
	case 64:
		signed, unsigned = layout.Int64, layout.Uint64
	default:
		return layout.DType{}, h.broken(RuleIntWidth, "an integer of %d bits", x.BitWidth())
	}
	if x.IsSigned() {
		return signed, nil
	}
	return unsigned, nil
}

func (h *Head) floatType(t flatbuffers.Table) (layout.DType, error) {
	var x fb.FloatingPoint
	x.Init(t.Bytes, t.Pos)
	switch x.Precision() {
	case fb.PrecisionHALF:
		return layout.Float16, nil
	case fb.PrecisionSINGLE:
		return layout.Float32, nil
	case fb.PrecisionDOUBLE:
		return layout.Float64, nil
	}
	return layout.DType{}, h.broken(RuleFloatPrecision, "a float of precision %d", x.Precision())
}

func (h *Head) unit(u fb.TimeUnit) (layout.Unit, error) {
	if u < 0 || int(u) >= len(arrowUnits) {
		return 0, h.broken(RuleTimeUnit, "time unit %d", u)
	}
	return arrowUnits[u], nil
}

// buildType adds the Arrow type of elements of type dt, which must not be one
// that is stored as another.
func buildType(b *flatbuffers.Builder, dt layout.DType) (fb.Type, flatbuffers.UOffsetT) {
	switch dt.Kind() {
	case layout.KindFloat16:
		return buildFloat(b, fb.PrecisionHALF)
	case layout.KindFloat32:
		return buildFloat(b, fb.PrecisionSINGLE)
	case layout.KindFloat64:
		return buildFloat(b, fb.PrecisionDOUBLE)
	case layout.KindDecimal:
		fb.DecimalStart(b)
		fb.DecimalAddPrecision(b, int32(dt.Precision()))
		fb.DecimalAddScale(b, int32(dt.Scale()))
		b.PrependInt32Slot(2, int32(dt.Size())*8, 0) // bitWidth, also if it has its default value
		return fb.TypeDecimal, fb.DecimalEnd(b)
	case layout.KindDate:
		unit := fb.DateUnitDAY
		if dt.Unit() == layout.UnitMillisecond {
			unit = fb.DateUnitMILLISECOND
		}
		fb.DateStart(b)
		fb.DateAddUnit(b, unit)
		return fb.TypeDate, fb.DateEnd(b)
	case layout.KindTime:
		fb.TimeStart(b)
		fb.TimeAddUnit(b, unitNumber(dt.Unit()))
		fb.TimeAddBitWidth(b, int32(dt.Size())*8)
		return fb.TypeTime, fb.TimeEnd(b)
	case layout.KindTimestamp:
		var zone flatbuffers.UOffsetT
		if dt.Zone() != "" {
			zone = b.CreateString(dt.Zone())
		}
		fb.TimestampStart(b)
		fb.TimestampAddUnit(b, unitNumber(dt.Unit()))
		if zone != 0 {
			fb.TimestampAddTimezone(b, zone)
		}
		return fb.TypeTimestamp, fb.TimestampEnd(b)
	case layout.KindInterval:
		unit := fb.IntervalUnitYEAR_MONTH
		switch dt.Unit() {
		case layout.UnitDayTime:
			unit = fb.IntervalUnitDAY_TIME
		case layout.UnitMonthDayNano:
			unit = fb.IntervalUnitMONTH_DAY_NANO
		}
		fb.IntervalStart(b)
		fb.IntervalAddUnit(b, unit)
		return fb.TypeInterval, fb.IntervalEnd(b)
	case layout.KindFixedSizeBinary:
		fb.FixedSizeBinaryStart(b)
		fb.FixedSizeBinaryAddByteWidth(b, int32(dt.Size()))
		return fb.TypeFixedSizeBinary, fb.FixedSizeBinaryEnd(b)
	case layout.KindDuration:
		fb.DurationStart(b)
		fb.DurationAddUnit(b, unitNumber(dt.Unit()))
		return fb.TypeDuration, fb.DurationEnd(b)
	}
	return fb.TypeInt, buildInt(b, dt)
}

func buildFloat(b *flatbuffers.Builder, p fb.Precision) (fb.Type, flatbuffers.UOffsetT) {
	fb.FloatingPointStart(b)
	fb.FloatingPointAddPrecision(b, p)
	return fb.TypeFloatingPoint, fb.FloatingPointEnd(b)
}

func buildInt(b *flatbuffers.Builder, dt layout.DType) flatbuffers.UOffsetT {
	fb.IntStart(b)
	fb.IntAddBitWidth(b, int32(dt.Size())*8)
	signed := dt.Kind() <= layout.KindInt64
	b.PrependBoolSlot(1, signed, !signed) // is_signed, also if it has its default value
	return fb.IntEnd(b)
}

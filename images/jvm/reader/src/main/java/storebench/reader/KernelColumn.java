package storebench.reader;

import io.delta.kernel.data.Row;
import io.delta.kernel.types.BooleanType;
import io.delta.kernel.types.ByteType;
import io.delta.kernel.types.DataType;
import io.delta.kernel.types.DateType;
import io.delta.kernel.types.DecimalType;
import io.delta.kernel.types.DoubleType;
import io.delta.kernel.types.FloatType;
import io.delta.kernel.types.IntegerType;
import io.delta.kernel.types.LongType;
import io.delta.kernel.types.ShortType;
import io.delta.kernel.types.StringType;
import io.delta.kernel.types.StructType;
import io.delta.kernel.types.TimestampNTZType;
import io.delta.kernel.types.TimestampType;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.stream.IntStream;

/** One column of a table, and the getter of its type. */
final class KernelColumn {
    private final int number;
    private final DataType type;
    private final Getter getter;

    private interface Getter {
        Object get(Row row, int column);
    }

    private KernelColumn(int number, String name, DataType type) {
        this.number = number;
        this.type = type;
        this.getter = getter(name, type);
    }

    static KernelColumn[] of(StructType schema) {
        return IntStream.range(0, schema.length())
                .mapToObj(n -> new KernelColumn(n, schema.at(n).getName(), schema.at(n).getDataType()))
                .toArray(KernelColumn[]::new);
    }

    /** Returns the row's value as Kernel returns it: a date is its day's number, a timestamp its microseconds. */
    Object raw(Row row) {
        return row.isNullAt(number) ? null : getter.get(row, number);
    }

    /** Returns the row's value, with dates and timestamps as objects. */
    Object value(Row row) {
        Object raw = raw(row);
        if (raw instanceof Integer days && type instanceof DateType) {
            return LocalDate.ofEpochDay(days);
        }
        if (raw instanceof Long micros && (type instanceof TimestampType || type instanceof TimestampNTZType)) {
            return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
        }
        return raw;
    }

    private static Getter getter(String name, DataType type) {
        if (type instanceof StringType) {
            return Row::getString;
        } else if (type instanceof LongType || type instanceof TimestampType || type instanceof TimestampNTZType) {
            return Row::getLong;
        } else if (type instanceof IntegerType || type instanceof DateType) {
            return Row::getInt;
        } else if (type instanceof DoubleType) {
            return Row::getDouble;
        } else if (type instanceof DecimalType) {
            return Row::getDecimal;
        } else if (type instanceof BooleanType) {
            return Row::getBoolean;
        } else if (type instanceof FloatType) {
            return Row::getFloat;
        } else if (type instanceof ShortType) {
            return Row::getShort;
        } else if (type instanceof ByteType) {
            return Row::getByte;
        }
        throw new MismatchException("field " + name + " has the unknown type " + type);
    }
}

package storebench.reader;

import io.delta.standalone.DeltaLog;
import io.delta.standalone.Snapshot;
import io.delta.standalone.data.CloseableIterator;
import io.delta.standalone.data.RowRecord;
import io.delta.standalone.types.StructField;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;

/** Delta Standalone: the rows of a snapshot one by one, in one thread. The library has no other way to read. */
final class StandaloneReader implements RowReader {
    private final Configuration settings;
    private final String table;
    private Object seen; // keeps the values that the loop reads, or the compiler may remove the reads

    StandaloneReader(Configuration settings, String table) {
        this.settings = settings;
        this.table = table;
    }

    @Override
    public String name() {
        return "Delta Standalone";
    }

    @Override
    public String version() {
        return io.delta.standalone.package$.MODULE$.VERSION();
    }

    @Override
    public long read() throws IOException {
        Snapshot snapshot = DeltaLog.forTable(settings, table).snapshot();
        Column[] columns = columns(snapshot);
        long rows = 0;
        try (CloseableIterator<RowRecord> records = snapshot.open()) {
            while (records.hasNext()) {
                RowRecord record = records.next();
                for (Column column : columns) {
                    seen = column.of(record);
                }
                rows++;
            }
        }
        return rows;
    }

    @Override
    public void scan(String[] fields, RowSink sink) throws IOException {
        Snapshot snapshot = DeltaLog.forTable(settings, table).snapshot();
        Column[] columns = columns(snapshot);
        int[] order = Order.of(fields, Arrays.stream(columns).map(Column::name).toArray(String[]::new));
        Object[] values = new Object[fields.length];
        try (CloseableIterator<RowRecord> records = snapshot.open()) {
            while (records.hasNext()) {
                RowRecord record = records.next();
                for (int field = 0; field < values.length; field++) {
                    values[field] = columns[order[field]].of(record);
                }
                sink.accept(values);
            }
        }
    }

    private static Column[] columns(Snapshot snapshot) {
        StructField[] fields = snapshot.getMetadata().getSchema().getFields();
        return Arrays.stream(fields).map(Column::new).toArray(Column[]::new);
    }

    /** One column, and the getter of its type. */
    private record Column(String name, Function<RowRecord, Object> getter) {
        Column(StructField field) {
            this(field.getName(), getter(field.getName(), field.getDataType().getTypeName()));
        }

        Object of(RowRecord record) {
            return record.isNullAt(name) ? null : getter.apply(record);
        }

        private static Function<RowRecord, Object> getter(String name, String type) {
            return switch (type.startsWith("decimal") ? "decimal" : type) {
                case "string" -> record -> record.getString(name);
                case "long" -> record -> record.getLong(name);
                case "integer" -> record -> record.getInt(name);
                case "short" -> record -> record.getShort(name);
                case "byte" -> record -> record.getByte(name);
                case "double" -> record -> record.getDouble(name);
                case "float" -> record -> record.getFloat(name);
                case "boolean" -> record -> record.getBoolean(name);
                case "date" -> record -> record.getDate(name);
                case "timestamp" -> record -> record.getTimestamp(name);
                case "decimal" -> record -> record.getBigDecimal(name);
                default -> throw new MismatchException("field " + name + " has the unknown type " + type);
            };
        }
    }
}

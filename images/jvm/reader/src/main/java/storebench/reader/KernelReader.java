package storebench.reader;

import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.utils.CloseableIterator;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/** Delta Kernel: rows, in one thread. */
final class KernelReader implements RowReader {
    private final Configuration settings;
    private final String table;
    private volatile Object seen; // keeps the values that the loops read, or the compiler may remove the reads

    KernelReader(Configuration settings, String table) {
        this.settings = settings;
        this.table = table;
    }

    @Override
    public String name() {
        return "Delta Kernel";
    }

    @Override
    public String version() {
        return io.delta.kernel.Meta.KERNEL_VERSION;
    }

    @Override
    public long read() throws IOException {
        KernelScan scan = new KernelScan(settings, table);
        KernelColumn[] columns = KernelColumn.of(scan.schema());
        Object last = null;
        long rows = 0;
        for (Row file : scan.files()) {
            try (CloseableIterator<FilteredColumnarBatch> batches = scan.batches(file)) {
                while (batches.hasNext()) {
                    try (CloseableIterator<Row> records = batches.next().getRows()) {
                        while (records.hasNext()) {
                            Row record = records.next();
                            for (KernelColumn column : columns) {
                                last = column.raw(record);
                            }
                            rows++;
                        }
                    }
                }
            }
        }
        seen = last;
        return rows;
    }

    @Override
    public void scan(String[] fields, RowSink sink) throws IOException {
        KernelScan scan = new KernelScan(settings, table);
        KernelColumn[] columns = KernelColumn.of(scan.schema());
        int[] order = Order.of(fields, scan.schema().fieldNames().toArray(String[]::new));
        Object[] values = new Object[fields.length];
        for (Row file : scan.files()) {
            try (CloseableIterator<FilteredColumnarBatch> batches = scan.batches(file)) {
                while (batches.hasNext()) {
                    try (CloseableIterator<Row> records = batches.next().getRows()) {
                        while (records.hasNext()) {
                            Row record = records.next();
                            for (int field = 0; field < values.length; field++) {
                                values[field] = columns[order[field]].value(record);
                            }
                            sink.accept(values);
                        }
                    }
                }
            }
        }
    }

    /** Returns the exact number of rows, by a pass over one column. */
    static long count(Configuration settings, String table) throws IOException {
        KernelScan scan = new KernelScan(settings, table, 1);
        long rows = 0;
        for (Row file : scan.files()) {
            try (CloseableIterator<FilteredColumnarBatch> batches = scan.batches(file)) {
                while (batches.hasNext()) {
                    rows += KernelBatchReader.rows(batches.next());
                }
            }
        }
        return rows;
    }
}

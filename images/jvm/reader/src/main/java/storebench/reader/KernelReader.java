package storebench.reader;

import io.delta.kernel.data.ColumnVector;
import io.delta.kernel.data.ColumnarBatch;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.utils.CloseableIterator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;

/** Delta Kernel: rows in one thread; or, columnar, batches column by column, the files in as many threads as CPUs. */
final class KernelReader implements TableReader {
    private final Configuration settings;
    private final String table;
    private final boolean columnar;
    private volatile Object seen; // what the loops read has to go somewhere, or the compiler may leave it out

    KernelReader(Configuration settings, String table, boolean columnar) {
        this.settings = settings;
        this.table = table;
        this.columnar = columnar;
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
        return columnar ? readColumns(scan) : readRows(scan);
    }

    private long readRows(KernelScan scan) throws IOException {
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

    private long readColumns(KernelScan scan) throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Future<Long>> counts = new ArrayList<>();
            for (Row file : scan.files()) {
                counts.add(threads.submit(() -> readColumns(scan, file)));
            }
            long rows = 0;
            for (Future<Long> count : counts) {
                rows += count.get();
            }
            return rows;
        } catch (ExecutionException error) {
            throw new IOException(error.getCause());
        } catch (InterruptedException error) {
            throw new IOException(error);
        } finally {
            threads.shutdownNow();
        }
    }

    private long readColumns(KernelScan scan, Row file) throws IOException {
        KernelColumn[] columns = KernelColumn.of(scan.schema());
        long rows = 0;
        long sum = 0;
        try (CloseableIterator<FilteredColumnarBatch> batches = scan.batches(file)) {
            while (batches.hasNext()) {
                FilteredColumnarBatch batch = batches.next();
                ColumnarBatch data = batch.getData();
                int[] selected = selected(data.getSize(), batch.getSelectionVector());
                for (int column = 0; column < columns.length; column++) {
                    sum += columns[column].sum(data.getColumnVector(column), selected);
                }
                rows += selected.length;
            }
        }
        seen = sum;
        return rows;
    }

    /** The rows of a batch that a deletion vector leaves. */
    private static int[] selected(int rows, Optional<ColumnVector> selection) {
        int[] selected = new int[rows];
        int count = 0;
        for (int row = 0; row < rows; row++) {
            if (selection.isEmpty() || (!selection.get().isNullAt(row) && selection.get().getBoolean(row))) {
                selected[count++] = row;
            }
        }
        return count == rows ? selected : Arrays.copyOf(selected, count);
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

    /** The exact number of rows: a pass over one column. */
    static long count(Configuration settings, String table) throws IOException {
        KernelScan scan = new KernelScan(settings, table, 1);
        long rows = 0;
        for (Row file : scan.files()) {
            try (CloseableIterator<FilteredColumnarBatch> batches = scan.batches(file)) {
                while (batches.hasNext()) {
                    FilteredColumnarBatch batch = batches.next();
                    rows += selected(batch.getData().getSize(), batch.getSelectionVector()).length;
                }
            }
        }
        return rows;
    }
}

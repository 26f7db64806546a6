package storebench.reader;

import io.delta.kernel.data.ColumnVector;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.utils.CloseableIterator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;

/**
 * Delta Kernel: columnar batches, with one of the table's files per core at a time.
 *
 * <p>A batch has every column decoded into a vector; rows are never built.
 */
final class KernelBatchReader implements TableReader {
    private final int threads = Runtime.getRuntime().availableProcessors();
    private final Configuration settings;
    private final String table;

    KernelBatchReader(Configuration settings, String table) {
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
    public Map<String, Object> clientSettings() {
        return Map.of("threads", threads);
    }

    @Override
    public long read() throws IOException {
        return sum(new KernelScan(settings, table), KernelBatchReader::rows);
    }

    @Override
    public Checksum checksum(Field[] fields) throws IOException {
        KernelScan scan = new KernelScan(settings, table);
        KernelColumn[] columns = KernelColumn.of(scan.schema());
        String[] names = Arrays.stream(fields).map(Field::name).toArray(String[]::new);
        int[] order = Order.of(names, scan.schema().fieldNames().toArray(String[]::new));
        Checksum total = new Checksum(fields);
        sum(scan, batch -> {
            Checksum part = new Checksum(fields);
            add(batch, columns, order, part);
            synchronized (total) {
                total.add(part);
            }
            return part.rows();
        });
        return total;
    }

    /** Returns the number of rows that a deletion vector does not delete. */
    static long rows(FilteredColumnarBatch batch) {
        int size = batch.getData().getSize();
        if (batch.getSelectionVector().isEmpty()) {
            return size;
        }
        ColumnVector selection = batch.getSelectionVector().get();
        long count = 0;
        for (int row = 0; row < size; row++) {
            count += !selection.isNullAt(row) && selection.getBoolean(row) ? 1 : 0;
        }
        return count;
    }

    private static void add(FilteredColumnarBatch batch, KernelColumn[] columns, int[] order, Checksum checksum) {
        Object[] values = new Object[order.length];
        try (CloseableIterator<Row> records = batch.getRows()) { // views of the batch's vectors
            while (records.hasNext()) {
                Row record = records.next();
                for (int field = 0; field < values.length; field++) {
                    values[field] = columns[order[field]].value(record);
                }
                checksum.add(values);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Reads every batch of every file in several threads, and sums the function's results. */
    private long sum(KernelScan scan, ToLongFunction<FilteredColumnarBatch> function) throws IOException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Long>> parts = new ArrayList<>();
            for (Row file : scan.files()) {
                parts.add(pool.submit(() -> {
                    long sum = 0;
                    try (CloseableIterator<FilteredColumnarBatch> batches = scan.batches(file)) {
                        while (batches.hasNext()) {
                            sum += function.applyAsLong(batches.next());
                        }
                    }
                    return sum;
                }));
            }
            long total = 0;
            for (Future<Long> part : parts) {
                total += part.get();
            }
            return total;
        } catch (ExecutionException error) {
            throw unwrapped(error);
        } catch (InterruptedException error) {
            throw new IOException(error);
        } finally {
            pool.shutdownNow();
        }
    }

    private static IOException unwrapped(ExecutionException error) {
        if (error.getCause() instanceof RuntimeException cause) {
            throw cause;
        }
        if (error.getCause() instanceof Error cause) {
            throw cause;
        }
        return error.getCause() instanceof IOException cause ? cause : new IOException(error.getCause());
    }
}

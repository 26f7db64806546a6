package storebench.reader;

import java.nio.charset.StandardCharsets;

/** The dataset's checksum, independent of the order of rows. Its definition is in docs/dataset.md. */
final class Checksum {
    private static final long BASE = 0x9FB21C651E98DF25L;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final Field[] fields;
    private final long[] multipliers;
    private final long[] sums;
    private long rows;
    private long rowSum;

    Checksum(Field[] fields) {
        this.fields = fields;
        sums = new long[fields.length];
        multipliers = new long[fields.length];
        for (int n = 0; n < fields.length; n++) {
            multipliers[n] = mix((n + 1) * GOLDEN) | 1;
        }
    }

    /** Adds one row: its values in the order of the fields. */
    void add(Object[] values) {
        long combined = 0;
        for (int n = 0; n < fields.length; n++) {
            long hash = hash(fields[n].text(values[n]));
            sums[n] += hash;
            combined += multipliers[n] * hash;
        }
        rowSum += mix(combined);
        rows++;
    }

    /** Adds the rows of another checksum with the same fields. */
    void add(Checksum other) {
        for (int n = 0; n < sums.length; n++) {
            sums[n] += other.sums[n];
        }
        rowSum += other.rowSum;
        rows += other.rows;
    }

    long rows() {
        return rows;
    }

    /** Returns the checksum of each field. */
    long[] sums() {
        return sums;
    }

    /** Returns the checksum of whole rows. */
    long rowSum() {
        return rowSum;
    }

    private static long hash(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long polynomial = 0;
        for (byte value : bytes) {
            polynomial = polynomial * BASE + (value & 0xFF);
        }
        return mix(polynomial + (bytes.length + 1) * GOLDEN);
    }

    /** The finalizer of splitmix64. */
    private static long mix(long value) {
        value = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        value = (value ^ (value >>> 27)) * 0x94D049BB133111EBL;
        return value ^ (value >>> 31);
    }
}

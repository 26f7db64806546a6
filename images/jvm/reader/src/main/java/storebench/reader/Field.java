package storebench.reader;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * A field of the dataset: its name, its type in the dataset's schema, and its scale: the decimal places of a `decimal`, or
 * of the seconds of a `timestamp` (0, 3, 6 or 9).
 */
record Field(String name, String type, int scale) {
    private static final double[] POWERS = {
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };
    private static final double MAX_UNITS = 1e15; // up to this size, distinct decimals have distinct doubles

    /**
     * Returns the value's canonical text, as the dataset's schema defines it. A text stays unchanged; null becomes the empty text.
     * Throws MismatchException for a value that is invalid for the field.
     */
    String text(Object value) {
        if (value == null) {
            return "";
        }
        if (value instanceof String text) {
            return text;
        }
        String text =
                switch (type) {
                    case "integer" -> isInteger(value) ? value.toString() : null;
                    case "boolean" -> value instanceof Boolean ? value.toString() : null;
                    case "decimal" -> decimal(value);
                    case "float" -> isFloating(value) ? repr(((Number) value).doubleValue()) : null;
                    case "date" -> date(value);
                    case "timestamp" -> timestamp(value);
                    default -> null;
                };
        if (text == null) {
            throw new MismatchException(
                    "field " + name + ": " + value + " (" + value.getClass().getSimpleName() + ") cannot be " + type);
        }
        return text;
    }

    private static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
    }

    private static boolean isFloating(Object value) {
        return value instanceof Double || value instanceof Float;
    }

    private String decimal(Object value) {
        if (value instanceof BigDecimal number) {
            boolean exact = number.stripTrailingZeros().scale() <= scale;
            return exact ? number.setScale(scale, RoundingMode.UNNECESSARY).toPlainString() : null;
        }
        if (!isFloating(value)) {
            return null;
        }
        double number = ((Number) value).doubleValue();
        String text = exact(number, scale);
        return text != null ? text : repr(number);
    }

    /** Returns the number with `places` decimal places if this text denotes exactly this double, else null. */
    private static String exact(double number, int places) {
        long units = Math.round(number * POWERS[places]);
        boolean same = Double.compare(units / POWERS[places], number) == 0; // distinguishes -0.0 from 0.0
        return same && Math.abs(units) < MAX_UNITS ? BigDecimal.valueOf(units, places).toPlainString() : null;
    }

    /**
     * Returns the text of Python's repr: the shortest text of this double. The result is exact up to 15 digits; beyond 15 digits,
     * which no value of the dataset has, it is Java's own text.
     */
    private static String repr(double number) {
        for (int places = 1; places < POWERS.length; places++) {
            String text = exact(number, places);
            if (text != null) {
                return text;
            }
        }
        return Double.toString(number);
    }

    private static String date(Object value) {
        if (value instanceof Date date) {
            return date.toLocalDate().toString();
        }
        return value instanceof LocalDate ? value.toString() : null;
    }

    /** Returns the text of a timestamp, or null if it needs more than `scale` decimal places: it is never rounded. */
    private String timestamp(Object value) {
        Object moment = value instanceof Timestamp timestamp ? timestamp.toInstant() : value;
        if (!(moment instanceof Instant instant)) {
            return null;
        }
        int digits = (int) POWERS[9 - scale]; // the nanoseconds of the last decimal place
        if (instant.getNano() % digits != 0) {
            return null;
        }
        String seconds = instant.truncatedTo(ChronoUnit.SECONDS).toString();
        if (scale == 0) {
            return seconds;
        }
        String places = String.format(Locale.ROOT, "%0" + scale + "d", instant.getNano() / digits);
        return seconds.substring(0, seconds.length() - 1) + "." + places + "Z";
    }
}

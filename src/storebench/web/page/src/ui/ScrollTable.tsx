import type { ReactNode } from "react";
import { type Aligned, alignedRows } from "../model/units";

interface FrameProps {
  label: string;
  dense?: boolean | undefined;
  children: ReactNode;
}

/** Show a frame in which a wide table or text scrolls. The page itself never scrolls sideways. */
export function ScrollFrame({ label, dense, children }: FrameProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a frame that scrolls
    <section className={dense ? "sb-scroll sb-dense" : "sb-scroll"} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** Show a text with numbers, right-aligned. */
export const NumberCell = ({ text, room, title }: Aligned & { title?: string | undefined }) => (
  <td className="sb-number" data-room={room || undefined} title={title}>
    {text}
  </td>
);

/** Show the numbers of a table's row. */
export const NumberCells = ({ of = [] }: { of: Aligned[] | undefined }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other key, and are never moved
  of.map((number, column) => <NumberCell key={column} {...number} />);

interface TableProps {
  label: string;
  columns: readonly string[];
  className?: string;
  /** Whether the table has small letters and narrow columns. */
  dense?: boolean | undefined;
  /** The table's rows. */
  children: ReactNode;
}

/** Show a table with a title for each column, in a frame. */
export function ScrollTable({ label, columns, className, dense, children }: TableProps) {
  return (
    <ScrollFrame label={label} dense={dense}>
      <table className={className}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </ScrollFrame>
  );
}

interface TextTableProps {
  label: string;
  columns: readonly string[];
  /** The number of columns before the columns with numbers; the first column identifies a row. */
  numbersFrom: number;
  /** The texts of each row. */
  rows: string[][];
  /** Return the class of a row by its place. */
  classOf?: (row: number) => string | undefined;
}

/** Show a dense table of texts, then of numbers. */
export function TextTable({ label, columns, numbersFrom, rows, classOf }: TextTableProps) {
  const numbers = alignedRows(rows.map((texts) => texts.slice(numbersFrom)));
  return (
    <ScrollTable label={label} columns={columns} dense>
      {rows.map((texts, row) => (
        <tr key={texts[0]} className={classOf?.(row)}>
          {texts.slice(0, numbersFrom).map((text, column) => (
            <td key={columns[column]}>{text}</td>
          ))}
          <NumberCells of={numbers[row]} />
        </tr>
      ))}
    </ScrollTable>
  );
}

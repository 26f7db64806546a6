import { Fragment } from "react";
import type { CellFigures, Study, Table } from "../api/types";
import { datasetsText, namesOf } from "../model/cells";
import { type Choice, isShown } from "../model/choice";
import { runOf } from "../model/figures";
import { linkTargetOf, toAttempts } from "../model/lead";
import { sourceOf } from "../model/provenance";
import { sqlOf } from "../model/sql";
import { type MedianText, type TableData, tableData } from "../model/tables";
import { alignedRows } from "../model/units";
import { Lead } from "../ui/Lead";
import { ScrollTable } from "../ui/ScrollTable";
import { tableSpec } from "./charts";
import { Exports } from "./Exports";

interface Shown {
  study: Study;
  cells: CellFigures[];
  choice: Choice;
}

/** Show the study's tables, in the study's order. A table without any line is omitted. */
export function StudyTables({ study, cells, choice }: Shown) {
  const shown = cells.filter(isShown(choice.asked, namesOf(study, cells)));
  return study.tables.map((table) => {
    const data = tableData(study, table, shown);
    return data.lines.length ? (
      <MedianTable key={table.title} study={study} table={table} data={data} choice={choice} />
    ) : null;
  });
}

const NOTE =
  "Each figure is the median of n verified, undisturbed attempts, with the confidence interval (95 % or more) that at least 6 attempts" +
  " give, and the range of all their figures. “n 1 of 3”: only one of three attempts reported the figure.";

function MedianTable({
  study,
  table,
  data,
  choice,
}: {
  study: Study;
  table: Table;
  data: TableData;
  choice: Choice;
}) {
  const { places, metrics, lines, exported } = data;
  const cells = lines.map(({ cell }) => cell);
  const run = cells[0]?.attempts[0]?.run_id ?? "";
  const medians = alignedRows(lines.map((line) => line.medians.map(({ median }) => median)));
  const columns = [...places, ...metrics.map(({ title }) => title)];
  return (
    <figure className="sb-chart">
      <figcaption>
        <h3>{table.title}</h3>
        <Exports
          run={run}
          title={table.title}
          name={`table-${table.axis}`}
          sql={sqlOf({
            study,
            cells,
            runs: [run],
            operations: [...new Set(cells.map(({ operation }) => operation))],
            metrics: table.metrics,
          })}
          source={sourceOf(
            run,
            datasetsText(study, cells),
            cells.flatMap((cell) => cell.attempts),
          )}
          table={exported}
          spec={(_, theme) => tableSpec(textsOf(data), theme)}
          note={NOTE}
        />
      </figcaption>
      <ScrollTable label={table.title} dense columns={columns}>
        {lines.map(({ cell, places: texts, medians: of, failures }, line) => {
          const className = failures.some(({ broken }) => broken) ? "sb-broken" : undefined;
          return (
            <Fragment key={`${cell.cell_key} ${cell.operation}`}>
              <tr className={className}>
                {texts.map((text, column) =>
                  column === 0 ? (
                    <th key={places[column]} scope="row">
                      <Lead choice={choice} to={toAttempts(linkTargetOf({ ...cell, ...runOf(cell) }))}>
                        {text}
                      </Lead>
                    </th>
                  ) : (
                    <td key={places[column]}>{text}</td>
                  ),
                )}
                {of.map((median, column) => (
                  <td
                    key={metrics[column]?.name}
                    className="sb-number"
                    data-room={medians[line]?.[column]?.room || undefined}
                  >
                    {median.median}
                    <Spread of={median} />
                  </td>
                ))}
              </tr>
              {failures.length ? (
                <tr className={className}>
                  <td colSpan={columns.length}>
                    {failures.map(({ text, broken }) => (
                      <p key={text}>{broken ? <strong>{text}</strong> : text}</p>
                    ))}
                  </td>
                </tr>
              ) : null}
            </Fragment>
          );
        })}
      </ScrollTable>
      <p className="sb-note">{NOTE}</p>
    </figure>
  );
}

/** Show below a median its interval, and the number and range of its figures. */
const Spread = ({ of: { interval, counted } }: { of: MedianText }) =>
  [interval, counted].filter(Boolean).map((text) => (
    <span key={text} className="sb-reason">
      {text}
    </span>
  ));

/** Return a table in a form that fits into a picture. */
function textsOf({ places, metrics, lines }: TableData): Record<string, string>[] {
  return lines.map(({ places: texts, medians, failures }) =>
    Object.fromEntries([
      ...places.map((title, column) => [title, texts[column]]),
      ...metrics.map(({ name }, column) => {
        const { median, interval, counted } = medians[column] as MedianText;
        return [name, [median, interval, counted].filter(Boolean).join("; ")];
      }),
      ["not counted", failures.map(({ text }) => text).join("; ")],
    ]),
  );
}

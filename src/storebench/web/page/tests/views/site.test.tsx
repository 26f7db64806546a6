import { fireEvent, render, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { Site, type SiteContent } from "../../src/views/site/Site";
import { BULK, RUN, TOY } from "../data";
import { RANKING } from "../rankingData";

const { params: _, ...LISTED } = RUN;
const run = (place: number, changes: object = {}) => ({
  ...LISTED,
  id: `bulk_write_read/r${place}`,
  airflow_run_id: `r${place}`,
  page: `runs/bulk_write_read/r${place}.html`,
  ...changes,
});
const STUDIES: SiteContent["studies"] = [
  {
    name: "bulk_write_read",
    title: "Bulk write and read",
    rows: { attempts: 1234, summary: 5 },
    rankings: "rankings/bulk_write_read.html",
    overview: { study: BULK, rankings: [RANKING] },
  },
  {
    name: "toy",
    title: "Toy",
    rows: { attempts: 1 },
    rankings: null,
    overview: { study: TOY, rankings: [] },
  },
];
const SITE: SiteContent = {
  written_at: "2026-11-22T12:00:00Z",
  code_version: "0.1.0",
  studies: STUDIES,
  runs: [
    run(2, { state: "refused", reason: "too many rows", page: null }),
    run(1),
    run(3, { id: "toy/r3", study: "toy", page: "runs/toy/r3.html", stores: ["abacus"], cell_key: null }),
  ],
};

const of = (study: string) => within(screen.getByRole("region", { name: study }));
const lines = (study: string) =>
  of(study)
    .queryAllByRole("row")
    .slice(1)
    .map((line) => line.textContent);

it("a site has each study's runs, with a page for each that was not refused", () => {
  render(<Site site={SITE} />);
  const found = lines("Bulk write and read");
  expect(found).toHaveLength(2);
  expect(found[0]).toContain("refused too many rows");
  const links = of("Runs of Bulk write and read").getAllByRole("link");
  expect(links.map((link) => link.getAttribute("href"))).toEqual(["runs/bulk_write_read/r1.html"]);
  expect(of("Runs of Toy").getByRole("link").getAttribute("href")).toBe("runs/toy/r3.html");
  expect(lines("Toy")[0]).toContain("abacus");
});

it("a site answers for each study that is ranked", () => {
  render(<Site site={SITE} />);
  expect(of("Bulk write and read").getByText(/mongodb reference is fastest/)).toBeTruthy();
  expect(of("Bulk write and read").getByRole("list").textContent).toContain("1.9 to 2.1 × slower");
  expect(of("Toy").queryByRole("list")).toBeNull();
});

it("a site leads to the data of each study", () => {
  render(<Site site={SITE} />);
  const link = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
  expect(link("data/toy/attempts as Parquet")).toBe("data/toy/attempts.parquet");
  expect(link("data/bulk_write_read/summary as CSV")).toBe("data/bulk_write_read/summary.csv");
  expect(link("data/runs as CSV")).toBe("data/runs.csv");
  expect(screen.getByText(/attempts, 1,234 rows/)).toBeTruthy();
});

it("a site leads to the rankings of the studies that have any", () => {
  render(<Site site={SITE} />);
  const links = screen.getAllByRole("link", { name: /^Ranking of/ });
  expect(links.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([
    ["Ranking of Bulk write and read", "rankings/bulk_write_read.html"],
  ]);
});

it("runs are found by words that are in what is said of them", () => {
  render(<Site site={SITE} />);
  const find = (text: string) =>
    fireEvent.change(screen.getByLabelText("Runs with these words"), { target: { value: text } });
  find("ABACUS toy");
  expect(lines("Toy")).toHaveLength(1);
  expect(lines("Bulk write and read")).toHaveLength(0);
  expect(screen.getByText("No run of this study has these words.")).toBeTruthy();
  find("abacus nowhere");
  expect(lines("Toy")).toHaveLength(0);
});

it("of many runs the newest are shown, until all are asked for", () => {
  const runs = Array.from({ length: 250 }, (_, place) => run(place));
  render(<Site site={{ ...SITE, studies: STUDIES.slice(0, 1), runs }} />);
  expect(lines("Bulk write and read")).toHaveLength(100);
  fireEvent.click(screen.getByRole("button", { name: "show all" }));
  expect(lines("Bulk write and read")).toHaveLength(250);
});

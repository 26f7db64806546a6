import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { Problem } from "../../src/api/api";
import { Figures } from "../../src/charts/Chart";
import { fileName } from "../../src/charts/Exports";
import { NoResults, Ready } from "../../src/ui/States";

describe("what is not there yet", () => {
  it("is loading", () => {
    render(<Ready of={{}}>{() => "data"}</Ready>);
    expect(screen.getByRole("status").textContent).toContain("Loading");
  });

  it.each([
    [401, "Log in to Airflow"],
    [403, "permission to see the DAG"],
    [404, "There is no run 'x'"],
    [503, "No connection"],
    [0, "No connection"],
    [500, "did not work"],
  ])("says what to do at %d", (status, text) => {
    render(<Ready of={{ problem: new Problem(status, "There is no run 'x'") }}>{() => "data"}</Ready>);
    expect(screen.getByRole("alert").textContent).toContain(text);
  });

  it("keeps what was there beside the problem", () => {
    render(<Ready of={{ data: [1], problem: new Problem(503, "away") }}>{() => "data"}</Ready>);
    expect(screen.getByRole("alert")).toBeTruthy();
    expect(document.body.textContent).toContain("data");
  });

  it("says how to get results", () => {
    render(<NoResults />);
    expect(document.body.textContent).toContain("Start a run of a study under Start");
  });
});

it("text stays text", () => {
  render(<Figures table={[{ error: "<img src=x onerror=alert(1)>" }]} caption="a table" />);
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getByText("<img src=x onerror=alert(1)>")).toBeTruthy();
});

it("a file's name begins with its run, and any system takes it", () => {
  expect(fileName("s/manual__2026-11-25T00:00:00+00:00", "write-only_s")).toBe(
    "s_manual__2026-11-25T00_00_00_00_00-write-only_s",
  );
  expect(fileName("", "attempts")).toBe("attempts");
});

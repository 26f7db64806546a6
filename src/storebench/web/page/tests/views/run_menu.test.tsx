import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { RunMenu } from "../../src/views/run/RunMenu";
import { RunLine } from "../../src/views/run/Runs";
import { RUN } from "../data";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const TAGGED = { ...RUN, id: "tagged", tags: ["nightly", "release:1.2"] };
const OLD = { ...RUN, id: "old", tags: ["release:1.2"] };

it("lists the runs with a chosen tag, also older ones", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async ({ url }: Request) => {
    const { searchParams } = new URL(url);
    asked.push(searchParams.getAll("tag").join());
    const items = searchParams.get("tag") ? [TAGGED, OLD] : [RUN, TAGGED];
    return new Response(JSON.stringify({ items, offset: 0, more: false, latest: RUN.id }));
  });
  render(<RunMenu label="Run" chosen={RUN.id} runs={[RUN, TAGGED]} dag={RUN.dag_id} onChoose={() => {}} />);
  fireEvent.change(screen.getByLabelText("Run: tag"), { target: { value: "release:1.2" } });
  fireEvent.click(screen.getByRole("button", { name: /Run/ }));
  await waitFor(() => expect(screen.getAllByRole("option", { name: /tags/ })).toHaveLength(2));
  expect(screen.getByTitle("old").textContent).toContain("tags release:1.2");
  expect(screen.getByTitle("tagged").textContent).toContain("tags nightly, release:1.2");
  expect(asked).toEqual(["release:1.2"]);
});

it("shows no filter without tags, and the tags of a run in its line", () => {
  render(<RunMenu label="Run" chosen={RUN.id} runs={[RUN]} onChoose={() => {}} />);
  expect(screen.queryByLabelText("Run: tag")).toBeNull();
  render(<RunLine run={TAGGED} />);
  expect(screen.getByText(/tags nightly, release:1.2/)).toBeTruthy();
});

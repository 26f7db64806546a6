import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Badge, StateBadge } from "../../src/ui/Badge";
import { Card } from "../../src/ui/Card";
import { Menu, MenuGroup } from "../../src/ui/Menu";

test("a card is a region that its title names", () => {
  render(
    <Card title="Write" menu={<button type="button">Export</button>}>
      the chart
    </Card>,
  );
  const card = screen.getByRole("region", { name: "Write" });
  expect(card.textContent).toContain("the chart");
  expect(screen.getByRole("heading", { level: 3 }).textContent).toBe("Write");
  expect(card.contains(screen.getByRole("button", { name: "Export" }))).toBe(true);
});

test("a menu closes on a choice, on Escape and on a click elsewhere", () => {
  const save = vi.fn();
  render(
    <>
      <Menu label="Export">
        <MenuGroup title="Save">
          <button type="button" onClick={save}>
            SVG
          </button>
        </MenuGroup>
      </Menu>
      <p>elsewhere</p>
    </>,
  );
  const button = screen.getByRole("button", { name: "Export" });
  const isOpen = () => screen.queryByRole("button", { name: "SVG" }) !== null;
  expect(isOpen()).toBe(false);
  fireEvent.click(button);
  expect(screen.getByRole("group", { name: "Save" })).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "SVG" }));
  expect(save).toHaveBeenCalledOnce();
  expect(isOpen()).toBe(false);

  fireEvent.click(button);
  screen.getByRole("button", { name: "SVG" }).focus();
  fireEvent.keyDown(document, { key: "Escape" });
  expect(isOpen()).toBe(false);
  expect(document.activeElement).toBe(button);

  fireEvent.click(button);
  fireEvent.pointerDown(screen.getByText("elsewhere"));
  expect(isOpen()).toBe(false);
});

test("a badge with an explanation shows it on a click", () => {
  render(<Badge explanation="The store guarantees another durability.">durability: memory</Badge>);
  const badge = screen.getByRole("button", { name: "durability: memory" });
  expect(screen.queryByRole("status")).toBeNull();
  fireEvent.click(badge);
  expect(screen.getByRole("status").textContent).toBe("The store guarantees another durability.");
  fireEvent.click(badge);
  expect(screen.queryByRole("status")).toBeNull();
});

test("a run's state has Airflow's colour of that state", () => {
  render(<StateBadge state="failed" />);
  expect(screen.getByText("failed").className).toContain("sb-tone-failed");
});

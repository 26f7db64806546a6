import { type ReactNode, useId } from "react";
import { usePopup } from "./popup";

interface Props {
  /** The text of the button. */
  label: ReactNode;
  /** The name of the button for screen readers, if the text alone is not unique on the page. */
  name?: string;
  /** Buttons and links, each of which closes the menu, in `MenuGroup`s if they are many. */
  children: ReactNode;
}

/** Show a button that opens a list of buttons and links below it. */
export function Menu({ label, name, children }: Props) {
  const { ref, open, setOpen } = usePopup<HTMLDivElement>();
  const id = useId();
  return (
    <div ref={ref} className="sb-popup-anchor">
      <button
        type="button"
        className="sb-menu-button"
        aria-label={name}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: the buttons within handle the click; here it only closes the menu
        // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a button within is a click
        <div
          id={id}
          className="sb-popup sb-menu"
          onClick={(event) => {
            if ((event.target as Element).closest("button, a")) setOpen(false);
          }}
        >
          {children}
        </div>
      ) : null}
    </div>
  );
}

/** Show a titled group of a menu's buttons and links. */
export const MenuGroup = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className="sb-menu-group">
    <legend>{title}</legend>
    {children}
  </fieldset>
);

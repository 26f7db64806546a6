import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Choice } from "../model/choice";
import type { To } from "../model/lead";

/** Show a link within the page, or only its text on a page without links. */
export function Lead({ choice, to, children }: { choice: Choice; to: To; children: ReactNode }) {
  return choice.link ? <Link to={choice.link(to)}>{children}</Link> : children;
}

import type { ReactNode } from "react";
import type { Run } from "../api/types";
import { usePopup } from "./popup";

export type Tone = "success" | "failed" | "running" | "queued" | "warning" | "plain";

interface Props {
  tone?: Tone;
  title?: string;
  /** A sentence that the badge shows on a click. */
  explanation?: string;
  children: ReactNode;
}

/** Show a short word in a colour. A badge with an explanation is a button that shows the explanation. */
export function Badge({ tone = "plain", title, explanation, children }: Props) {
  const className = `sb-badge sb-tone-${tone}`;
  return explanation ? (
    <Explained className={className} explanation={explanation}>
      {children}
    </Explained>
  ) : (
    <span className={className} title={title}>
      {children}
    </span>
  );
}

function Explained({
  className,
  explanation,
  children,
}: {
  className: string;
  explanation: string;
  children: ReactNode;
}) {
  const { ref, open, setOpen } = usePopup<HTMLSpanElement>();
  return (
    <span ref={ref} className="sb-popup-anchor">
      <button type="button" className={className} aria-expanded={open} onClick={() => setOpen(!open)}>
        {children}
      </button>
      {open ? (
        <span className="sb-popup sb-explanation" role="status">
          {explanation}
        </span>
      ) : null}
    </span>
  );
}

/** The states of runs in Airflow, and the state of a run that the plan refused. */
const TONES: Record<string, Tone> = {
  success: "success",
  failed: "failed",
  running: "running",
  queued: "queued",
  refused: "warning",
};

/** Show a run's state in Airflow's colour of that state. */
export const StateBadge = ({ state }: { state: Run["state"] | "queued" }) => (
  <Badge tone={TONES[state]}>{state}</Badge>
);

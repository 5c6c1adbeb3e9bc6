import { useState } from "preact/hooks";
import { ProblemView } from "../../components/problem-view.tsx";
import { saveText } from "../../components/save.ts";
import { instantsOf, type Period } from "../../formats/period.ts";
import { readFileOfSession } from "../../session/session.ts";

type Props = { readonly login: string; readonly period: Period };

/** The last row of a file that is whole. */
const END = /(?:^|\n),[^\n]*,closing_balance,[^\n]*\n?$/;

export function isWhole(file: string): boolean {
  return END.test(file.replaceAll("\r", ""));
}

/** Saves the whole period as the API writes it, also what is not loaded here. */
export function SaveStatement({ login, period }: Props) {
  const [said, setSaid] = useState("");
  const [problem, setProblem] = useState<unknown>(undefined);
  const save = async (): Promise<void> => {
    setSaid("Reading the period…");
    setProblem(undefined);
    try {
      const query = new URLSearchParams({ ...instantsOf(period), format: "csv" });
      const path = `/api/v1/info/investor/${encodeURIComponent(login)}/statement`;
      const file = await readFileOfSession()(`${path}?${query.toString()}`);
      if (isWhole(file)) saveText(`statement-${login}-${period.from}-${period.to}.csv`, file);
      setSaid(isWhole(file) ? "Saved." : "The file was cut short, so nothing was saved. Try again.");
    } catch (error) {
      setSaid("");
      setProblem(error);
    }
  };
  return (
    <>
      <p class="later">
        <button type="button" onClick={() => void save()}>
          Save the whole period as CSV
        </button>{" "}
        <span class="quiet" role="status">
          {said}
        </span>
      </p>
      {problem !== undefined && <ProblemView problem={problem} />}
    </>
  );
}

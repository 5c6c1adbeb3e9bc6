import { useState } from "preact/hooks";
import { csvOf, type Lines, tsvOf } from "../../formats/delimited.ts";
import { saveText } from "../save.ts";

type Props = {
  readonly label: string;
  readonly name: string;
  readonly count: number;
  readonly hasMore: boolean;
  readonly lines: () => Lines;
};

const SHOWN_MS = 3_000;

/** Copies and saves the rows that are loaded. */
export function Export({ label, name, count, hasMore, lines }: Props) {
  const [said, setSaid] = useState("");
  const say = (text: string): void => {
    setSaid(text);
    setTimeout(() => setSaid(""), SHOWN_MS);
  };
  const rows = `${count} ${hasMore ? "loaded " : ""}${count === 1 ? "row" : "rows"}`;
  const copy = (): void => {
    navigator.clipboard.writeText(tsvOf(lines())).then(
      () => say(`${rows} copied`),
      () => say("The browser did not allow it"),
    );
  };
  const save = (): void => {
    saveText(`${name}.csv`, csvOf(lines()));
    say(`${rows} saved`);
  };
  return (
    <div class="export">
      <span role="status">{said}</span>
      <button
        type="button"
        class="plain"
        onClick={copy}
        disabled={count === 0}
        aria-label={`Copy ${label}`}
        title={`Copy ${rows}, separated by tabs`}
      >
        Copy
      </button>
      <button
        type="button"
        class="plain"
        onClick={save}
        disabled={count === 0}
        aria-label={`CSV of ${label}`}
        title={`Save ${rows} as CSV`}
      >
        CSV
      </button>
    </div>
  );
}

import type { Input } from "../../../client/index.ts";
import { operationHref, operationsHref } from "../../app/addresses.ts";
import { goTo } from "../../app/router.ts";
import { useFields } from "../../components/use-fields.ts";
import { submitting } from "../../formats/form.ts";

type Filter = NonNullable<Input<"listOperations">["query"]>;

const FIELDS = [
  { name: "login", label: "Investor login", size: 10 },
  { name: "master_login", label: "Master login", size: 10 },
  { name: "ticket", label: "Ticket of a deal", size: 12 },
  { name: "comment", label: "Comment", size: 18 },
  { name: "external_id", label: "Your id", size: 14 },
] as const;
const CHOICES = [
  { name: "action", label: "Action", values: ["deposit", "withdraw", "assign", "unassign"] },
  { name: "outcome", label: "Outcome", values: ["pending", "executed", "not_executed", "unknown", "review"] },
] as const;
const DATES = [
  { name: "from", label: "From (UTC)" },
  { name: "to", label: "Before (UTC)" },
] as const;
const INSTANT = "\\s*\\d{4}-\\d{2}-\\d{2}([ T]\\d{2}:\\d{2}(:\\d{2})?)?\\s*";
const ALL = [...FIELDS, ...CHOICES, ...DATES];
const NAMES = ALL.map(({ name }) => name);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** As the API takes it. What is no value of it is refused by the API, in its words. */
export function filterOf(query: URLSearchParams): Filter {
  const given = NAMES.map((name) => [name, query.get(name)?.trim() ?? ""] as const).filter(([, value]) => value !== "");
  return Object.fromEntries(given);
}

/** What was searched for, with the labels of the fields; empty without a filter. */
export function searchedFor(filter: Filter): string {
  const values: Readonly<Record<string, unknown>> = filter;
  return ALL.filter(({ name }) => values[name] !== undefined)
    .map(({ name, label }) => `${label} ${shownIn(name, String(values[name]))}`)
    .join(", ");
}

/** The address has the filter, so that a search can be repeated and sent to a colleague. */
export function Search({ query }: { readonly query: URLSearchParams }) {
  const form = useFields({
    id: "",
    ...Object.fromEntries(NAMES.map((name) => [name, shownIn(name, query.get(name) ?? "")])),
  });
  const submit = submitting((text) =>
    goTo(UUID.test(text("id")) ? operationHref(text("id").toLowerCase()) : hrefOf(text)),
  );
  return (
    <form class="search" role="search" aria-label="Operations" ref={form} onSubmit={submit}>
      <label>
        Operation id
        <input
          name="id"
          size={14}
          spellcheck={false}
          pattern={`\\s*${UUID.source.slice(1, -1)}\\s*`}
          title="The whole id, as in X-Operation-Id"
        />
      </label>
      {FIELDS.map(({ name, label, size }) => (
        <label key={name}>
          {label}
          <input name={name} size={size} spellcheck={false} />
        </label>
      ))}
      {CHOICES.map(({ name, label, values }) => (
        <label key={name}>
          {label}
          <select name={name}>
            <option value="">any</option>
            {values.map((value) => (
              <option key={value} value={value}>
                {value.replace("_", " ")}
              </option>
            ))}
          </select>
        </label>
      ))}
      {DATES.map(({ name, label }) => (
        <label key={name}>
          {label}
          <input
            name={name}
            size={16}
            placeholder="2026-01-31 12:00"
            spellcheck={false}
            pattern={INSTANT}
            title="A day, or a day and a time, in UTC"
          />
        </label>
      ))}
      <div class="buttons">
        <button type="submit" class="primary">
          Search
        </button>
        <button type="button" onClick={() => goTo(operationsHref())}>
          Clear
        </button>
      </div>
    </form>
  );
}

function hrefOf(value: (name: string) => string): string {
  return operationsHref(
    Object.fromEntries(NAMES.map((name) => [name, isDate(name) ? instantIn(value(name)) : value(name)])),
  );
}

function shownIn(name: string, value: string): string {
  return isDate(name) ? value.replace("T", " ") : value;
}

function isDate(name: string): boolean {
  return DATES.some((date) => date.name === name);
}

/** `2026-01-31 12:00` as the API takes it; a day begins at midnight. */
function instantIn(text: string): string {
  const [day = "", time = "00:00"] = text.split(/[ T]+/);
  if (day === "") return "";
  return `${day}T${time.length === 5 ? `${time}:00` : time}`;
}

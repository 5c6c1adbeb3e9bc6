import { goTo } from "../app/router.ts";
import { submitting } from "../formats/form.ts";
import { useFields } from "./use-fields.ts";

type Props = {
  readonly label: string;
  readonly query: URLSearchParams;
  readonly hrefOf: (filter: Readonly<Record<string, string>>) => string;
  readonly loginHref: (login: string) => string;
};

const FIELDS = [
  { name: "name", label: "Name", size: 18 },
  { name: "email", label: "Email", size: 18 },
  { name: "external_id", label: "Your id", size: 14 },
] as const;

export type AccountFilter = { readonly [Name in (typeof FIELDS)[number]["name"]]?: string };

/** As the API takes it. */
export function accountFilterOf(query: URLSearchParams): AccountFilter {
  const given = FIELDS.map(({ name }) => [name, query.get(name)?.trim() ?? ""] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/** A login opens its page; anything else filters the list. */
export function AccountSearch({ label, query, hrefOf, loginHref }: Props) {
  const given = Object.fromEntries(FIELDS.map(({ name }) => [name, query.get(name) ?? ""]));
  const form = useFields({ login: "", ...given });
  const submit = submitting((text) => {
    const login = text("login");
    goTo(login === "" ? hrefOf(Object.fromEntries(FIELDS.map(({ name }) => [name, text(name)]))) : loginHref(login));
  });
  return (
    <form class="search" role="search" aria-label={label} ref={form} onSubmit={submit}>
      <label>
        Login
        <input name="login" size={10} spellcheck={false} inputMode="numeric" />
      </label>
      {FIELDS.map(({ name, label: title, size }) => (
        <label key={name}>
          {title}
          <input name={name} size={size} spellcheck={false} />
        </label>
      ))}
      <div class="buttons">
        <button type="submit" class="primary">
          Search
        </button>
        <button type="button" onClick={() => goTo(hrefOf({}))}>
          Clear
        </button>
      </div>
    </form>
  );
}

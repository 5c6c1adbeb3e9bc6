import { useEffect, useRef } from "preact/hooks";
import { LiveMark } from "../live/live-mark.tsx";
import { PAGES } from "../pages/pages.ts";
import { can, type Session, signOut } from "../session/session.ts";
import { focusHeading } from "./focus-heading.ts";
import { IdleWarning } from "./idle-warning.tsx";
import { Outlet } from "./outlet.tsx";
import { hrefTo, place } from "./router.ts";
import { scheme, SCHEMES } from "./scheme.ts";

/** Everything around a page. */
export function Frame({ current: { key } }: { readonly current: Session }) {
  const { path } = place.value;
  const name = path[0] ?? "overview";
  const shown = PAGES.filter((page) => can(...page.anyOf));
  const page = shown.find((one) => one.name === name);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${page?.title ?? "Not found"} · PAMM console`;
    main.current?.scrollTo(0, 0);
    return main.current === null ? undefined : focusHeading(main.current);
  }, [name, path[1], path[2] !== undefined && name === "fee-runs" ? path[2] : ""]);

  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <header class="bar">
        <a class="name" href={hrefTo(["overview"])}>
          PAMM console
        </a>
        <span class={`environment ${key.environment}`}>{key.environment}</span>
        <LiveMark />
        <span class="client" title={`Key ${key.key_id}`}>
          {key.client}
        </span>
        <SchemeSwitch />
        <button type="button" class="plain" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      <nav class="pages" aria-label="Pages">
        <ul>
          {shown
            .filter((one) => one.isHidden !== true)
            .map((one) => (
              <li key={one.name}>
                <a href={hrefTo([one.name])} aria-current={one.name === name ? "page" : undefined}>
                  {one.title}
                </a>
              </li>
            ))}
        </ul>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        {page === undefined ? <NotFound /> : <Outlet key={name} page={page} />}
      </main>
      <IdleWarning />
    </div>
  );
}

function SchemeSwitch() {
  const next = SCHEMES[(SCHEMES.indexOf(scheme.value) + 1) % SCHEMES.length] ?? "auto";
  return (
    <button type="button" class="plain" title={`Change to ${next}`} onClick={() => (scheme.value = next)}>
      <span class="hidden">Colours: </span>
      {scheme.value}
    </button>
  );
}

function NotFound() {
  return (
    <section class="empty">
      <h1>Nothing here</h1>
      <p>There is no such page, or the scopes of this API key do not include it.</p>
    </section>
  );
}

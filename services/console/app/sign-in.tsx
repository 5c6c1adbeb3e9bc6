import { useEffect, useRef, useState } from "preact/hooks";
import { ProblemView } from "../components/problem-view.tsx";
import { PAGES } from "../pages/pages.ts";
import { endedBecause, signIn } from "../session/session.ts";
import { place } from "./router.ts";

/** The field is no password field, so no browser offers to store the key. */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => field.current?.focus(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const apiKey = field.current?.value.trim() ?? "";
    if (apiKey === "" || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    // Its code comes while the key is asked about.
    const name = place.value.path[0] ?? "overview";
    PAGES.find((page) => page.name === name)
      ?.load()
      .catch(() => {});
    try {
      await signIn(apiKey);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
      if (field.current !== null) field.current.value = "";
    }
  };

  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <h1>PAMM console</h1>
        {endedBecause.value !== undefined && (
          <p class="note" role="status">
            {endedBecause.value}
          </p>
        )}
        <label for="api-key">API key</label>
        <input
          id="api-key"
          ref={field}
          class="masked"
          type="text"
          required
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="key-note"
        />
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Signing in" : "Sign in"}
        </button>
        <p id="key-note" class="quiet">
          The key stays in the memory of this tab, and is forgotten at sign-out, on reload and after 15 minutes without
          input. Its scopes decide what is shown.
        </p>
        {problem !== undefined && <ProblemView problem={problem} />}
      </form>
    </main>
  );
}

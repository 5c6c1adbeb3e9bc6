import type { ComponentType } from "preact";
import { useErrorBoundary, useEffect, useState } from "preact/hooks";
import { Loading } from "../components/loading.tsx";
import { ProblemView } from "../components/problem-view.tsx";
import type { Page, PageProps } from "../pages/page.ts";
import { place } from "./router.ts";

/** Shows a page once its code is there. A fault of a page leaves the rest of the console as it is. */
export function Outlet({ page }: { readonly page: Page }) {
  const [View, setView] = useState<ComponentType<PageProps> | undefined>(undefined);
  const [problem, setProblem] = useState<unknown>(undefined);
  const [fault, reset] = useErrorBoundary();
  useEffect(() => {
    page.load().then(({ View: loaded }) => setView(() => loaded), setProblem);
  }, [page]);

  const failed: unknown = fault ?? problem;
  if (failed !== undefined && failed !== null) return <ProblemView problem={failed} retry={reset} />;
  if (View === undefined) return <Loading />;
  const { path, query } = place.value;
  return <View path={path.slice(1)} query={query} />;
}

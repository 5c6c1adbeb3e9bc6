import { breaksHref, reviewHref } from "../../app/addresses.ts";
import { incidentsOf, type IncidentState } from "./find-incidents.ts";

/** What is wrong with the whole system, and what it asks of people. Read out when it changes. */
export function Incidents(state: IncidentState) {
  const found = incidentsOf(state);
  return (
    <div role="status" class="incidents">
      {found.map(({ name, title, text, review }) => (
        <section key={name} class="warning" aria-label={title}>
          <h2>{title}</h2>
          <p>
            {text} {review !== undefined && <a href={reviewHref(review)}>Review {review}</a>}
            {name === "checks" && <a href={breaksHref()}>The checks</a>}
          </p>
        </section>
      ))}
    </div>
  );
}

import type { PageProps } from "../page.ts";
import { ReviewView } from "./review.tsx";
import { Reviews } from "./reviews.tsx";

export function View({ path: [id], query }: PageProps) {
  return id === undefined ? <Reviews state={query.get("state") ?? ""} /> : <ReviewView key={id} id={id} />;
}

export type Json = Readonly<Record<string, unknown>>;

export type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Json>>;
};

/** What is read here of an OpenAPI document. */
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Json;
};

export type Place = { readonly id: string; readonly method: string; readonly path: string };

export function placesOf({ paths }: Document): readonly Place[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId !== undefined)
      .map(([method, { operationId }]) => ({ id: operationId, method, path })),
  );
}

/** The operation of a request. A part of a path that is written out is preferred to a parameter. */
export function placeOf(places: readonly Place[], method: string, pathname: string): Place | undefined {
  const matching = places.filter(
    (place) => place.method === method.toLowerCase() && patternOf(place.path).test(pathname),
  );
  return matching.toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)[0];
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);

/** Follows one reference into the document. */
export function resolved(document: Document, value: Json): { readonly value: Json; readonly pointer?: string } {
  const reference = value["$ref"];
  if (typeof reference !== "string") return { value };
  const found = reference
    .slice(2)
    .split("/")
    .reduce<unknown>((node, name) => (node as Json)[name], document);
  return { value: found as Json, pointer: reference };
}

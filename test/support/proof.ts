import process from "node:process";

/** `make proof` runs the same tests with sizes that take more than an hour together. */
export const IS_PROOF = process.env["PAMM_PROOF"] === "true";

/** The size of `make test` or that of `make proof`. */
export function sized<Size>(sizes: { readonly test: Size; readonly proof: Size }): Size {
  return IS_PROOF ? sizes.proof : sizes.test;
}

/** `make proof` crashes at each point, `make test` at each fifth: a call has two points and transactions have different numbers, so all are covered. */
export const STRIDE = sized({ test: 5, proof: 1 });

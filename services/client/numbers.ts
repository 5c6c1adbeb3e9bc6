/**
 * Where an answer or a body has numbers that a float does not keep: 64-bit integers become a bigint, decimals such as amounts become text. The
 * elements of an array have the form of the array, and `*` stands for members of any name.
 */
export type NumberForm = "int64" | "decimal" | { readonly [member: string]: NumberForm };

export function formOf(form: NumberForm | undefined, member: string): NumberForm | undefined {
  if (typeof form !== "object") return undefined;
  return Object.hasOwn(form, member) ? form[member] : form["*"];
}

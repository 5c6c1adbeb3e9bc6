declare const brand: unique symbol;

/** A value that cannot be swapped with another of the same shape by mistake. It has no cost at run time. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** Role of a managed account. One login has one role. */
export type Role = "master" | "payment" | "investor";

/** What an account is for us. One login has one role. */
export type Role = "master" | "payment" | "investor";

import type { TString } from "typebox";
import { type About, decimal, integer, nullableString, string } from "./field.ts";

export const idReply = (description: string) => integer({ description, example: 1 });
export const loginReply = (description: string): TString => string({ description, example: "3000001" });
export const moneyReply = (description: string, example = 250.5) => decimal({ description, example });
export const decimalReply = (description: string): TString => string({ description, example: "100.00" });

export const timeReply = (description: string): TString =>
  string({ description: `${description} UTC, ISO 8601 without offset.`, example: "2026-01-02T03:04:05.678000" });

export const nullableTimeReply = (description: string) =>
  nullableString({ description: `${description} UTC, ISO 8601 without offset.`, example: null });

export const nameReply: TString = string({ description: "Alias, the visible name.", example: "Alpha Strategy" });

export const strategyNameReply: TString = string({
  description: "Short commercial name of the strategy; empty when none was given.",
  example: "Alpha",
});

export const strategyReply: TString = string({
  description: "Description of the strategy; empty when none was given.",
  example: "Trend following on majors.",
});

export const secretReply = (description: string, about: Partial<About> = {}) =>
  string({ description: `Secret. ${description}`, example: "(secret)", ...about });

export const nullableSecretReply = (description: string) =>
  nullableString({
    description: `Secret. ${description} Null for an account that was registered rather than created.`,
    example: "(secret)",
  });

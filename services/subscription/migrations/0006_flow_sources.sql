-- Key of the transfer on the Investor that the flow follows from: a deposit finds its mirror by it. Null for other flows, and for those that
-- an earlier version recorded.
alter table flow add column source_key text;

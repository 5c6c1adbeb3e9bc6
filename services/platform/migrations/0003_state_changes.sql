\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/states/reviews.sql

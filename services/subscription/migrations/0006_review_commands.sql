-- The command that said a word: given again it says nothing new, and is answered the same. Repeated word for word by a migration
-- of every service that keeps reviews in its schema.
alter table review_word add column command_id text not null default '';

create unique index review_word_by_command on review_word (command_id) where command_id <> '';

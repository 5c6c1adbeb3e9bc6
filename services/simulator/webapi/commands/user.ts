import { MANAGER_RIGHT } from "../../settings.ts";
import type { Commands } from "../command.ts";
import { addUser } from "./user-add.ts";
import { checkPassword, updateUser } from "./user-change.ts";
import { countUsers, getUser, getUsers, listLogins } from "./user-read.ts";
import { getAccountState } from "./user-account.ts";

const { readAccounts, editAccounts } = MANAGER_RIGHT;

export const USER_COMMANDS: Commands = {
  "user/add": { right: editAccounts, run: addUser },
  "user/update": { right: editAccounts, run: updateUser },
  "user/check_password": { right: editAccounts, run: checkPassword },
  "user/get": { right: readAccounts, run: getUser },
  "user/get_batch": { right: readAccounts, run: getUsers },
  "user/logins": { right: readAccounts, run: listLogins },
  "user/total": { right: readAccounts, run: countUsers },
  "user/account/get": { right: readAccounts, run: getAccountState },
};

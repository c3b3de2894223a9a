import { command, onInstance } from '../command.ts'

/** The watchdog inside an instance, which keeps its limits while this machine sleeps. */
export const watchdogCommands = {
  /** Reads it now, which renews its lease, and installs one that is gone; also finds one that another Berth has installed. */
  checkWatchdog: command(onInstance).answers<void>(),
  /** Makes the watchdog of another Berth this one's, as limits on the instance. */
  adoptWatchdog: command(onInstance).answers<void>(),
  /** Its log, oldest first; `at` in epoch seconds of the account's time. */
  watchdogLog: command(onInstance).answers<readonly { at: number; text: string }[]>(),
}

/** Where a secret is kept, and how long, after `kept`: `keychainProblem` as State has it. */
export function keychainWords(keychainProblem: string | undefined): string {
  return keychainProblem ? 'until Berth ends and nowhere else' : 'in the keychain'
}

/** Whether a name sounds like something that must not be remembered, or shown to others, in the clear. */
export function soundsSecret(name: string): boolean {
  return /(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|_KEY|APIKEY)/i.test(name)
}

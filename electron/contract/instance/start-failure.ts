/** Why a container cannot start: its image is unavailable, or its machine cannot run it. */
export type StartFailure = 'image' | 'container'

/** The start failure in the service's status message; undefined if the message has none. */
export function startFailure(message: string | undefined): StartFailure | undefined {
  const line = message?.toLowerCase() ?? ''
  if (line.includes('manifest unknown') || line.includes('pull access denied')) return 'image'
  return line.includes('oci runtime create failed') ? 'container' : undefined
}

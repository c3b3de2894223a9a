/** The address of the user's SSH agent: a path, or on Windows a pipe. */
export function agentSocket(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  const told = env['SSH_AUTH_SOCK']
  if (told) return told
  return platform === 'win32' ? String.raw`\\.\pipe\openssh-ssh-agent` : undefined
}

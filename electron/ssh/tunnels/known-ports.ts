/** The usual ports of well-known web interfaces, with their names. */
const names: ReadonlyMap<number, string> = new Map([
  [8080, 'Jupyter'],
  [8188, 'ComfyUI'],
  [7860, 'Gradio'],
  [8000, 'vLLM'],
  [6006, 'TensorBoard'],
  [11434, 'Ollama'],
  [8888, 'Jupyter Notebook'],
  [8501, 'Streamlit'],
  [8265, 'Ray'],
  [5000, 'MLflow'],
  [9090, 'InvokeAI'],
])

/** Ports that are probed by default. */
export const usualPorts: readonly number[] = [...names.keys(), 3000]

/** The web interface usually found at a port, guessed from the number alone. */
export function portName(port: number): string {
  return names.get(port) ?? `Port ${port}`
}

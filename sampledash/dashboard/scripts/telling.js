const told = window.sampledashTold ??= new Map();
export default function ({ data, setStateValue }) {
  for (const [name, more] of Object.entries(data))
    told.set(name, { ...more, of: name, ask: (wanted) => {
      setStateValue("asked", wanted);
      window.sampledashLive.asks();
    } });
  window.sampledashLive?.hear?.();
  return () => Object.keys(data).forEach((name) => told.delete(name));
}

import { useState } from 'react';
import { ImportIcon } from '../../ui/icons.tsx';

/** Accepts a file by drag and drop or from the file picker. */
export function DropZone({ onFile }: { onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  return (
    <label
      className="drop-zone"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) onFile(file);
      }}
    >
      <ImportIcon />
      <strong>Drop a file here, or choose one</strong>
      <span className="quiet">.csv, .json, .jsonl or .ndjson, up to 64 MiB</span>
      <input
        type="file"
        accept=".csv,.json,.jsonl,.ndjson"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) onFile(file);
        }}
      />
    </label>
  );
}

sample crew.exs
rec 1; run 'elixir crew.exs'
screen 2 78 24 'iex' ~1.5 'parent = self()' @Enter 'for n <- 1..3, do: spawn(fn -> send(parent, {:wave, n}) end)' @Enter ~0.3 'receive do {:wave, n} -> "first in: #{n}" end' @Enter '1..10_000 |> Stream.map(&(&1 * 3)) |> Stream.filter(&(rem(&1, 2) == 0)) |> Enum.sum()' @Enter '%{tide: 3} |> Map.put(:moon, 15)' @Enter '{:ok, height} = {:ok, 2.9}' @Enter '{:ok, height} = {:error, :storm}' @Enter ~1

"""This file is what is often done wrong with loaders, devices and files, told by what the exception says."""

from torchmagic.analyses.misuse import Misuse

DATA_MISUSES = (
    Misuse(
        r"default_collate: batch must contain .*found <class '(PIL\.[\w.]+)'>",
        "a sample holds an image ({0}), of which no batch can be made",
        "Batches are made of tensors, arrays, numbers and text.",
        "make it a tensor in __getitem__, as torchvision's to_tensor does",
    ),
    Misuse(
        r"default_collate: batch must contain .*found <class '(?:builtins\.)?([\w.]+)'>",
        "a sample holds a {0}, of which no batch can be made",
        "Batches are made of tensors, arrays, numbers and text.",
        "return such from __getitem__, or give DataLoader(…, collate_fn=…) that joins the samples",
    ),
    Misuse(
        r"'(list|dict)' object has no attribute '(to|cuda|cpu|float|half|double|long|shape|size|dim|view|reshape)'",
        "{line} takes a {0} for a tensor",
        "A batch has the parts of a sample: a list of tensors, or a dict of them where a sample is one.",
        "x, y = (part.to(device) for part in batch)  # of a dict, batch['…']",
    ),
    Misuse(
        r"'DataLoader' object is not (?:an iterator|subscriptable)",
        "{line} takes a loader for its iterator",
        "A loader begins a new pass with each iter().",
        "next(iter(loader)) for one batch; for all, for batch in loader:",
    ),
    Misuse(
        r"DataLoader with IterableDataset: expected unspecified (shuffle|sampler|batch_sampler)",
        "{line} is given {0} for a stream",
        "An IterableDataset decides on its order by itself.",
        "shuffle in its __iter__, as by a buffer of some thousand samples",
    ),
    Misuse(
        r"Sum of input lengths does not equal the length of the input dataset",
        "{line} cuts a dataset into parts that do not add up to it",
        "Lengths must sum to the length of the dataset; fractions to 1.",
        "random_split(dataset, [0.8, 0.2])",
    ),
    Misuse(
        r"lengths. array must be sorted in decreasing order",
        "{line} wants the longest sequence first",
        "Packed sequences lie by length; they are sorted for you where that is allowed.",
        "pack_padded_sequence(…, enforce_sorted=False)",
    ),
    Misuse(
        r"'lengths' argument should be a 1D CPU int64 tensor",
        "{line} wants lengths on the CPU",
        "How long each sequence is, the host has to know.",
        "pack_padded_sequence(x, lengths.cpu(), …)",
    ),
    Misuse(
        r"Cannot re-initialize CUDA in forked subprocess",
        "a worker of a loader uses CUDA",
        "A process that was forked cannot use the CUDA of the one it came from.",
        "keep what the dataset gives on the CPU, and move each batch in the loop",
    ),
    Misuse(
        r"DataLoader worker .*(?:is killed by signal|exited unexpectedly)",
        "a worker of a loader died",
        "Mostly for want of memory or shared memory, or of a fault in a library that it called.",
        "num_workers=0 shows which; then fewer workers, or more shared memory",
    ),
    Misuse(
        r"Can't get attribute",
        "{line} needs a class that is not defined here",
        "A file that holds whole objects names their classes, which must be there when it is read.",
        "define or import the class first; better, save state_dict() and load that",
        where=r"\bload\(",
    ),
    Misuse(
        r"Can't (?:get|pickle) .*(?:__main__|local object|<lambda>)",
        "a worker cannot be handed what is defined here",
        "Workers that are started afresh import what they need, and cannot import from a notebook.",
        "put the class or function into a file and import it, or num_workers=0",
    ),
    Misuse(
        r"Caught \w+ in DataLoader worker process",
        "{says}, raised by the dataset in a worker",
        "Workers run the code of the dataset in processes of their own.",
        "run it once with num_workers=0: the traceback then ends in your own line",
    ),
    Misuse(
        r"not compiled with CUDA enabled|No CUDA GPUs are available|Found no NVIDIA driver"
        r"|Attempting to deserialize object on a CUDA device",
        "{line} needs a CUDA device, and there is none",
        "The device is named in the code, or in the file that is loaded; torch can use none here.",
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'  # and torch.load(…, map_location=device)",
    ),
    Misuse(
        r"Weights only load failed",
        "{line} meets a file that holds more than tensors",
        "Unless told otherwise, torch loads tensors and plain values only: others could run code.",
        "save state_dict() and load that; weights_only=False only for a file that you trust",
    ),
    Misuse(
        r"Default process group has not been initialized",
        "{line} needs a group of processes, and there is none",
        "What processes do together needs to be told who takes part.",
        "torch.distributed.init_process_group() before it, in a program that torchrun starts",
    ),
)
